"""xpiler: translate tensor kernels between accelerators, with evidence."""
