"""The total outcome of building or running a program. Results are values, never exceptions or bare strings."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    OK = "ok"
    COMPILE_ERROR = "compile_error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_BOUNDS = "out_of_bounds"
    RACE = "race"
    MISMATCH = "mismatch"
    LIMIT_EXCEEDED = "limit_exceeded"
    UNSUPPORTED = "unsupported"
