"""What a value becomes when it is stored in a type: integers wrap modulo 2^n, floats round to nearest, ties to even."""

from __future__ import annotations

import ctypes
import math

import numpy as np

from synth.ir.dtypes import DType

# C's conversion from double rounds to nearest even and overflows to infinity (IEEE 754, 5.4.2).
_float32 = ctypes.c_float


def wrap_int(value: int, dtype: DType) -> int:
    """``value`` modulo 2^n, as the signed or unsigned number of that width. Precondition: an integer type."""
    bits = dtype.bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.is_signed_int and value >> (bits - 1) else value


def round_float(value: float, dtype: DType) -> float:
    """The nearest value of a float type; overflow gives infinity."""
    if dtype is DType.F32:
        return float(_float32(value).value)
    if dtype is DType.F64:
        return value
    if dtype is DType.F16:
        with np.errstate(over="ignore"):
            return float(np.float16(value))
    return _round_bf16(value)


def _round_bf16(value: float) -> float:
    """8 significant bits, exponents of f32 (least subnormal 2^-133)."""
    if value == 0.0 or not math.isfinite(value):
        return value
    _, exponent = math.frexp(value)
    unit = max(exponent - 8, -133)
    # Scaling by a power of two is exact here, and Python rounds ties to even.
    rounded = math.ldexp(round(math.ldexp(value, -unit)), unit)
    if abs(rounded) >= 2.0**128:
        return math.copysign(math.inf, value)
    return math.copysign(rounded, value)


def round_to_odd_sum(a: float, b: float) -> float:
    """``a + b`` rounded to odd in double, so that rounding once more to a type of at most 51 bits is correct
    (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd")."""
    total = a + b
    if not math.isfinite(total):
        return total
    part = total - a
    error = (a - (total - part)) + (b - part)
    if error == 0.0 or math.frexp(total)[0] * 2.0**53 % 2 == 1:
        return total
    return math.nextafter(total, math.inf if error > 0 else -math.inf)
