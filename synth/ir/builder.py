"""Short spellings for building typed IR by hand: ``i32(3)``, ``add(a, b)``, ``lt(i, n)``."""

from __future__ import annotations

from synth.ir.dtypes import DType, Type, Vec, lanes, scalar
from synth.ir.grammar import Binary, Broadcast, Cast, Const, Expr, Load, Math, Select, Sym, Unary, Var
from synth.ir.rounding import round_float


def const(value: int | float | bool, type_: DType) -> Const:
    """A literal of the given type; for float types, the value rounded to it."""
    return Const(round_float(float(value), type_) if type_.is_float else value, type_)


def i32(value: int) -> Const:
    return Const(value, DType.I32)


def f32(value: float) -> Const:
    return const(value, DType.F32)


def true() -> Const:
    return Const(True, DType.BOOL)


def splat(expr: Expr, type_: Type) -> Expr:
    """``expr`` as is for a scalar type, broadcast for a vector type."""
    return Broadcast(expr, type_.lanes) if isinstance(type_, Vec) and not isinstance(expr.type, Vec) else expr


def binary(op: str, a: Expr, b: Expr) -> Binary:
    """A typed binary node. Raises TypeError when the operand types differ."""
    if a.type != b.type:
        raise TypeError(f"{op}: operand types differ: {a.type} and {b.type}")
    return Binary(op, a, b)


def add(a: Expr, b: Expr) -> Binary:
    return binary("add", a, b)


def sub(a: Expr, b: Expr) -> Binary:
    return binary("sub", a, b)


def mul(a: Expr, b: Expr) -> Binary:
    return binary("mul", a, b)


def lt(a: Expr, b: Expr) -> Binary:
    return binary("lt", a, b)


def eq(a: Expr, b: Expr) -> Binary:
    return binary("eq", a, b)


def land(a: Expr, b: Expr) -> Binary:
    return binary("land", a, b)


def lnot(a: Expr) -> Unary:
    return Unary("lnot", a)


def cast(expr: Expr, type_: Type) -> Expr:
    """Converts ``expr`` to ``type_``; no node when it already has that type; literals of integer type are folded."""
    if expr.type == type_:
        return expr
    if isinstance(expr, Const) and isinstance(type_, DType) and not expr.type.is_float:
        value = int(expr.value)
        if type_.is_int and type_.min_int <= value <= type_.max_int:
            return Const(value, type_)
        if type_ in (DType.F32, DType.F64) and abs(value) <= 1 << 24:
            return Const(float(value), type_)
    return Cast(expr, type_)


def load(buf: Sym, index: tuple[Expr, ...], type_: Type) -> Load:
    return Load(buf, index, type_)


def var(sym: Sym, type_: Type = DType.I32) -> Var:
    return Var(sym, type_)


def math(fn: str, *args: Expr) -> Math:
    return Math(fn, args, args[0].type)


def select(cond: Expr, a: Expr, b: Expr) -> Select:
    return Select(cond, a, b)


def same_shape(a: Type, b: Type) -> bool:
    """Whether two types have equally many lanes."""
    return lanes(a) == lanes(b)


def is_const(expr: Expr, value: int | float) -> bool:
    """Whether ``expr`` is a literal equal to ``value``."""
    return isinstance(expr, Const) and expr.value == value


def int_value(expr: Expr) -> int | None:
    """The value of an integer literal, or None."""
    return int(expr.value) if isinstance(expr, Const) and not scalar(expr.type).is_float else None
