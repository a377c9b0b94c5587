"""The mathematical functions of the IR on doubles, total as in C: poles give infinities, domain errors NaN (ISO C, annex F.10)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from synth.ir.dtypes import DType
from synth.ir.rounding import round_float, round_to_odd_sum, wrap_int
from synth.ir.values import Scalar


@cache
def function(fn: str, dtype: DType) -> Callable[..., Scalar]:
    """``fn`` on scalars of a type: computed in double, rounded to the type (``fma`` exactly)."""
    if fn == "abs" and dtype.is_int:
        return lambda a: wrap_int(abs(a), dtype)
    if fn == "fma":
        return _fma64 if dtype is DType.F64 else lambda a, b, c: round_float(round_to_odd_sum(a * b, c), dtype)
    exact = _FUNCTIONS[fn]
    if dtype is DType.F64:
        return lambda *args: float(exact(*args))
    return lambda *args: round_float(float(exact(*args)), dtype)


def _fma64(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # keeps the sign of zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _round(a: float) -> float:
    """Halfway cases away from zero."""
    if not math.isfinite(a):
        return a
    whole = math.trunc(a)
    return math.copysign(
        float(whole + 1 if abs(a) - abs(whole) >= 0.5 and a > 0 else whole - 1 if abs(a) - abs(whole) >= 0.5 else whole), a
    )


def _quiet(ufunc: Callable[..., float]) -> Callable[..., float]:
    def call(*args: float) -> float:
        with np.errstate(all="ignore"):
            return ufunc(*map(np.float64, args))

    return call


_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "exp": _quiet(np.exp),
    "exp2": _quiet(np.exp2),
    "exp10": _quiet(lambda a: np.power(np.float64(10.0), a)),
    "expm1": _quiet(np.expm1),
    "log": _quiet(np.log),
    "log2": _quiet(np.log2),
    "log10": _quiet(np.log10),
    "log1p": _quiet(np.log1p),
    "sqrt": _quiet(np.sqrt),
    "rsqrt": _quiet(lambda a: np.float64(1.0) / np.sqrt(a)),
    "cbrt": _quiet(np.cbrt),
    "sin": _quiet(np.sin),
    "cos": _quiet(np.cos),
    "tan": _quiet(np.tan),
    "asin": _quiet(np.arcsin),
    "acos": _quiet(np.arccos),
    "atan": _quiet(np.arctan),
    "sinh": _quiet(np.sinh),
    "cosh": _quiet(np.cosh),
    "tanh": _quiet(np.tanh),
    "asinh": _quiet(np.arcsinh),
    "acosh": _quiet(np.arccosh),
    "atanh": _quiet(np.arctanh),
    "erf": math.erf,
    "erfc": math.erfc,
    "floor": _quiet(np.floor),
    "ceil": _quiet(np.ceil),
    "trunc": _quiet(np.trunc),
    "round": _round,
    "rint": _quiet(np.rint),
    "pow": _quiet(np.power),
    "atan2": math.atan2,
    "fmod": _quiet(np.fmod),
    "copysign": math.copysign,
    "hypot": math.hypot,
}
