"""Per dialect: intrinsic signatures, constraints, and their meaning as an IR body."""
