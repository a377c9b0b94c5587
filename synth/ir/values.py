"""What operators and conversions do to values. Integers are Python ints in range, bools Python bools, floats Python floats that are
already rounded to their type.

Each f16, bf16 and f32 operation is computed in double and rounded once: for + - * / and sqrt that is the correctly rounded result, because
double has more than twice their digits plus two (Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from functools import cache, partial

from synth.ir.dtypes import DType, Type, Vec
from synth.ir.rounding import round_float, wrap_int

Scalar = int | float | bool
Value = Scalar | tuple[Scalar, ...]


class UndefinedOperation(Exception):
    """An operation without a meaning in C: division by zero, a shift by the width or more, a float out of an integer's range."""


@cache
def binary(op: str, dtype: DType) -> Callable[[Scalar, Scalar], Scalar]:
    """The function of a binary operator on scalars of a type. May raise UndefinedOperation."""
    if op in _COMPARE:
        return _COMPARE[op]
    if dtype is DType.BOOL:
        return _BOOL[op]
    if dtype.is_float:
        if op in ("min", "max"):
            return _fmin if op == "min" else _fmax
        return _rounded(_FLOAT[op], dtype)
    if op in ("min", "max"):
        return min if op == "min" else max
    if op in ("shl", "shr"):
        return partial(_shift, op, dtype)
    return _wrapped(_INT[op], dtype)


@cache
def unary(op: str, dtype: DType) -> Callable[[Scalar], Scalar]:
    """The function of a unary operator on scalars of a type."""
    if op == "lnot":
        return operator.not_
    if dtype.is_float:
        return operator.neg
    function = operator.neg if op == "neg" else operator.invert
    return lambda a: wrap_int(function(int(a)), dtype)


@cache
def conversion(source: DType, target: DType) -> Callable[[Scalar], Scalar]:
    """C's value conversion. A float that does not fit an integer type raises UndefinedOperation (ISO C, 6.3.1.4)."""
    if target is DType.BOOL:
        return lambda a: a != 0
    if target.is_float:
        return lambda a: _to_float(a, target)
    if source.is_float:
        return lambda a: _truncated(float(a), target)
    return lambda a: wrap_int(int(a), target)


def lenient(function: Callable[..., Scalar], op: str, dtype: DType) -> Callable[..., Scalar]:
    """The lane operation for vectors, where all lanes are computed and a masked-off one must not fail: shifts beyond the width give 0 or
    the sign, conversions that do not fit the "integer indefinite" value (Intel SDM volume 1, 4.8.3.4 and volume 2, VPSLLV, VCVTTPS2DQ)."""

    def lane(*args: Scalar) -> Scalar:
        try:
            return function(*args)
        except UndefinedOperation:
            if op == "shl" or (op == "shr" and args[0] >= 0):
                return 0
            if op == "shr":
                return -1
            if op == "cast":
                return dtype.max_int if dtype.is_unsigned_int else dtype.min_int
            raise

    return lane


def reinterpret(value: Value, source: Type, target: Type) -> Value:
    """The same bits as another type; lane 0 is the lowest."""
    data = pack(value, source)
    return unpack(data, target)


def pack(value: Value, type_: Type) -> bytes:
    """The little-endian bytes of a value."""
    lanes = value if isinstance(value, tuple) else (value,)
    dtype = type_.dtype if isinstance(type_, Vec) else type_
    if dtype is DType.BF16:
        return b"".join(struct.pack("<f", v)[2:] for v in lanes)
    return struct.pack(f"<{len(lanes)}{_FORMATS[dtype]}", *lanes)


def unpack(data: bytes, type_: Type) -> Value:
    """The value of a type whose bytes are ``data``."""
    dtype, count = (type_.dtype, type_.lanes) if isinstance(type_, Vec) else (type_, 1)
    if dtype is DType.BF16:
        lanes: tuple[Scalar, ...] = tuple(struct.unpack("<f", b"\0\0" + data[2 * i : 2 * i + 2])[0] for i in range(count))
    else:
        lanes = struct.unpack(f"<{count}{_FORMATS[dtype]}", data)
    return lanes if isinstance(type_, Vec) else lanes[0]


_FORMATS = {
    DType.BOOL: "?", DType.I8: "b", DType.U8: "B", DType.I16: "h", DType.U16: "H", DType.I32: "i", DType.U32: "I", DType.I64: "q",
    DType.U64: "Q", DType.F16: "e", DType.F32: "f", DType.F64: "d",
}  # fmt: skip
_COMPARE: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
_BOOL: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def _wrapped(function: Callable[[int, int], int], dtype: DType) -> Callable[[Scalar, Scalar], Scalar]:
    low, high = dtype.min_int, dtype.max_int

    def apply(a: Scalar, b: Scalar) -> Scalar:
        result = function(a, b)  # type: ignore[arg-type]
        return result if low <= result <= high else wrap_int(result, dtype)

    if function is _int_div:
        return lambda a, b: _checked_div(int(a), int(b), dtype)
    return apply


def _rounded(function: Callable[[float, float], float], dtype: DType) -> Callable[[Scalar, Scalar], Scalar]:
    if dtype is DType.F64:
        return function
    return lambda a, b: round_float(function(a, b), dtype)


def _int_div(a: int, b: int) -> int:
    if b == 0:
        raise UndefinedOperation("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _checked_div(a: int, b: int, dtype: DType) -> int:
    quotient = _int_div(a, b)
    if quotient > dtype.max_int:
        raise UndefinedOperation(f"division of the least {dtype} by -1")
    return quotient


def _int_mod(a: int, b: int) -> int:
    if b == 0:
        raise UndefinedOperation("remainder by zero")
    return a - b * _int_div(a, b)


def _float_div(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _fmin(a: Scalar, b: Scalar) -> Scalar:
    return b if a != a else a if b != b else min(a, b)


def _fmax(a: Scalar, b: Scalar) -> Scalar:
    return b if a != a else a if b != b else max(a, b)


def _shift(op: str, dtype: DType, a: Scalar, b: Scalar) -> Scalar:
    value, count = int(a), int(b)
    if not 0 <= count < dtype.bits:
        raise UndefinedOperation(f"shift of {dtype} by {count}")
    return wrap_int(value << count, dtype) if op == "shl" else value >> count


def _truncated(value: float, target: DType) -> int:
    if not math.isfinite(value) or not target.min_int <= int(value) <= target.max_int:
        raise UndefinedOperation(f"conversion of {value!r} to {target}")
    return int(value)


def _to_float(value: Scalar, target: DType) -> float:
    if isinstance(value, float):
        return round_float(value, target)
    exact = float(value)
    if target is not DType.F64 and int(exact) != value:
        # Rounding to odd keeps the second rounding correct (see rounding.round_to_odd_sum).
        toward = math.inf if int(exact) < value else -math.inf
        if math.frexp(exact)[0] * 2.0**53 % 2 == 0:
            exact = math.nextafter(exact, toward)
    return round_float(exact, target)


_INT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": _int_div, "mod": _int_mod, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
_FLOAT: dict[str, Callable[[float, float], float]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": _float_div}
