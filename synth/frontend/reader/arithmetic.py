"""Building typed expressions: C's conversions, and folding of integer literals only (exact, so that array indexes stay readable)."""

from __future__ import annotations

import math

from synth.ir import builder
from synth.ir.dtypes import DType, Type, Vec, scalar, with_scalar
from synth.ir.grammar import COMPARE_OPS, Binary, Bitcast, Broadcast, Cast, Const, Expr, Lane, MakeVec, Select, Unary
from synth.ir.rounding import round_float


def wrap(value: int, dtype: DType) -> int:
    """``value`` modulo 2^n in the range of an integer type."""
    if dtype is DType.BOOL:
        return int(value != 0)
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if value > dtype.max_int else value


def literal(value: int | float | bool, dtype: DType) -> Const:
    """A literal of ``dtype``: integers wrap, floats are rounded to the type."""
    if dtype is DType.BOOL:
        return Const(bool(value), dtype)
    if dtype.is_float:
        return Const(round_float(float(value), dtype), dtype)
    return Const(wrap(int(value), dtype), dtype)


def convert(expr: Expr, type_: Type) -> Expr:
    """C's conversion of a value to ``type_``; literals are converted at once where the result is exact or defined by C."""
    if expr.type == type_:
        return expr
    if isinstance(type_, Vec) and not isinstance(expr.type, Vec):
        return Broadcast(convert(expr, type_.dtype), type_.lanes)
    if type_ is DType.BOOL and isinstance(expr, Cast) and expr.a.type is DType.BOOL:
        return expr.a
    if isinstance(expr, Const) and isinstance(type_, DType):
        if not expr.type.is_float or type_.is_float:
            return literal(expr.value, type_)
        if type_ is DType.BOOL:
            return literal(expr.value != 0, type_)
        if math.isfinite(expr.value) and type_.min_int <= int(expr.value) <= type_.max_int:
            return literal(int(expr.value), type_)
    return Cast(expr, type_)


def truth(expr: Expr) -> Expr:
    """A condition: ``expr != 0`` as bool."""
    return convert(expr, DType.BOOL)


def binary(op: str, a: Expr, b: Expr) -> Expr:
    """A typed binary node over operands of one type; integer literals are folded."""
    if isinstance(a, Const) and isinstance(b, Const) and a.type == b.type and not a.type.is_float:
        folded = _fold(op, int(a.value), int(b.value), a.type)
        if folded is not None:
            return folded
    return builder.binary(op, a, b)


_COMPARE = {
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
    "eq": int.__eq__,
    "ne": int.__ne__,
}


def _fold(op: str, a: int, b: int, dtype: DType) -> Const | None:
    if op in COMPARE_OPS:
        return literal(bool(_COMPARE[op](a, b)), DType.BOOL)
    if op in ("land", "lor"):
        return literal(bool(a and b) if op == "land" else bool(a or b), DType.BOOL)
    if op in ("div", "mod"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return literal(quotient if op == "div" else a - quotient * b, dtype)
    if op in ("shl", "shr"):
        if not 0 <= b < dtype.bits:
            return None
        return literal(a << b if op == "shl" else a >> b, dtype)
    values = {"add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b, "xor": a ^ b, "min": min(a, b), "max": max(a, b)}
    return literal(values[op], dtype)


def unary(op: str, a: Expr) -> Expr:
    """A typed unary node; literals are folded (negation of a float literal is exact)."""
    if isinstance(a, Const):
        if op == "neg" and a.type is not DType.BOOL:
            return literal(-a.value, a.type)
        if op == "bnot" and a.type.is_int:
            return literal(~int(a.value), a.type)
        if op == "lnot":
            return literal(not a.value, DType.BOOL)
    return Unary(op, a)


def bitcast(expr: Expr, type_: Type) -> Expr:
    """The same bits as ``type_`` (of equal width)."""
    if expr.type == type_:
        return expr
    if isinstance(expr, Bitcast):
        return bitcast(expr.a, type_)
    return Bitcast(expr, type_)


def lane(vector: Expr, index: int) -> Expr:
    """One lane; looks through a vector that was just made."""
    match vector:
        case MakeVec(elems):
            return elems[index]
        case Broadcast(a, _):
            return a
        case _:
            return Lane(vector, index)


def with_lane(vector: Expr, index: int, value: Expr) -> Expr:
    """``vector`` with one lane replaced."""
    count = vector.type.lanes if isinstance(vector.type, Vec) else 1
    return MakeVec(tuple(value if i == index else lane(vector, i) for i in range(count)))


def lane_at(vector: Expr, index: Expr) -> Expr:
    """The lane that ``index`` chooses."""
    count = vector.type.lanes if isinstance(vector.type, Vec) else 1
    chosen = lane(vector, count - 1)
    for i in reversed(range(count - 1)):
        chosen = Select(binary("eq", index, _number(i, index)), lane(vector, i), chosen)
    return chosen


def with_lane_at(vector: Expr, index: Expr, value: Expr) -> Expr:
    """``vector`` with the lane that ``index`` chooses replaced."""
    count = vector.type.lanes if isinstance(vector.type, Vec) else 1
    return MakeVec(tuple(Select(binary("eq", index, _number(i, index)), value, lane(vector, i)) for i in range(count)))


def _number(value: int, like: Expr) -> Const:
    return literal(value, scalar(like.type))


def offset_sum(a: Expr, b: Expr) -> Expr:
    """``a + b`` for element offsets: exact in i64; a zero operand disappears (the other keeps its own integer type)."""
    if builder.is_const(a, 0):
        return b
    if builder.is_const(b, 0):
        return a
    a, b = convert(a, DType.I64), convert(b, DType.I64)
    if isinstance(a, Binary) and a.op == "add" and isinstance(a.b, Const) and isinstance(b, Const):
        return offset_sum(a.a, binary("add", a.b, b))
    return binary("add", a, b)


def offset_scaled(a: Expr, factor: int) -> Expr:
    """``a * factor`` for element offsets, in i64 unless ``factor`` is 1."""
    if factor == 1:
        return a
    if builder.is_const(a, 0):
        return a
    return binary("mul", convert(a, DType.I64), Const(factor, DType.I64))


def offset_divided(a: Expr, divisor: int) -> Expr:
    """``a / divisor`` for an offset that is a multiple of ``divisor`` (alignment); exact factors cancel."""
    if divisor == 1:
        return a
    match a:
        case Const(value, dtype):
            return literal(int(value) // divisor, dtype)
        case Binary("mul", x, Const(value, _)) if int(value) % divisor == 0:
            return offset_scaled(x, int(value) // divisor)
        case Binary("add", x, y) if _divides(divisor, x) or _divides(divisor, y):
            # The sum is a multiple by assumption and one operand is, so the other is too.
            return offset_sum(offset_divided(x, divisor), offset_divided(y, divisor))
    return binary("div", convert(a, DType.I64), Const(divisor, DType.I64))


def _divides(divisor: int, a: Expr) -> bool:
    match a:
        case Const(value, _) | Binary("mul", _, Const(value, _)):
            return int(value) % divisor == 0
        case Binary("add", x, y):
            return _divides(divisor, x) and _divides(divisor, y)
    return False


def unsigned_of(bits: int) -> DType:
    """The unsigned type of that many bits."""
    return DType(f"u{bits}")


def is_zero_offset(expr: Expr) -> bool:
    return builder.is_const(expr, 0)


def splat_like(expr: Expr, type_: Type) -> Expr:
    """A scalar converted to the element type of ``type_`` and to all its lanes."""
    return (
        convert(convert(expr, scalar(type_)), type_) if not isinstance(expr.type, Vec) else convert(expr, with_scalar(type_, scalar(type_)))
    )
