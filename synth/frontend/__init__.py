"""libclang to IR: one shared reader of the C++ subset, one small module per dialect."""
