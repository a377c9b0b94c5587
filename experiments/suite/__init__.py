"""The benchmark suite: CUDA sources in the idioms of real code, their cases, independent references."""
