"""One transformation per file, and the registry."""
