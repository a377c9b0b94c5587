"""The scalar meaning of one lane of an elementwise vector expression. It is total, because a lane that is masked off later must not fail.

Shifts beyond the width give 0 or the sign and conversions that do not fit the "integer indefinite" value, as ``synth.ir.values.lenient``.
"""

from __future__ import annotations

from synth.ir.builder import const
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import Binary, Broadcast, Cast, Const, Expr, Math, Select, Unary, Var
from synth.ir.traversal import map_expr_children


def one_lane(e: Expr) -> Expr:
    """The expression of one lane; ``Var``s of vector type become scalars (the printer names their lanes)."""
    match e:
        case Var():
            return Var(e.sym, scalar(e.type))
        case Broadcast():
            return e.a
        case Cast():
            return _cast(one_lane(e.a), scalar(e.type), isinstance(e.type, Vec))
        case Math():
            return Math(e.fn, tuple(one_lane(a) for a in e.args), scalar(e.type))
        case Binary(op="shl" | "shr") if isinstance(e.type, Vec):
            return _shift(e.op, one_lane(e.a), one_lane(e.b), e.type.dtype)
        case Binary(op="min" | "max") if scalar(e.type).is_int:
            a, b = one_lane(e.a), one_lane(e.b)
            return Select(Binary("lt" if e.op == "min" else "gt", a, b), a, b)
        case Binary() | Unary() | Select():
            return map_expr_children(e, one_lane)
        case _:
            return e


def _cast(a: Expr, target: DType, vector: bool) -> Expr:
    source = scalar(a.type)
    if not (vector and source.is_float and target.is_int):
        return Cast(a, target)
    whole = Math("trunc", (a,), source)
    low = Binary("ge", whole, const(target.min_int, source))
    high = Binary("lt", whole, const(target.max_int + 1, source))
    indefinite = Const(target.max_int if target.is_unsigned_int else target.min_int, target)
    return Select(Binary("land", low, high), Cast(a, target), indefinite)


def _shift(op: str, a: Expr, b: Expr, dtype: DType) -> Expr:
    unsigned = DType(f"u{dtype.bits}")
    fits = Binary("lt", Cast(b, unsigned), Const(dtype.bits, unsigned))
    beyond: Expr = Const(0, dtype)
    if op == "shr" and dtype.is_signed_int:
        beyond = Binary("shr", a, Const(dtype.bits - 1, dtype))
    return Select(fits, Binary(op, a, b), beyond)


def vector_part(type_: Type) -> Vec:
    """The type as a vector. Raises TypeError for a scalar."""
    if not isinstance(type_, Vec):
        raise TypeError(f"{type_} is no vector")
    return type_
