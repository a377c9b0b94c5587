"""The benchmark suite, sweeps, ablations and reports."""
