"""Byte counts of host code as element counts: exact division of size expressions.

Sizes are mathematical integers here: the conversions to ``size_t`` that C inserts are looked through, since a size that wraps makes the
allocation or copy itself fail.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from synth.frontend.reader.arithmetic import binary, convert, literal
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Binary, Cast, Const, Expr, Load, Sym, Var
from synth.ir.traversal import rewrite_expr, walk_expr

Values = Mapping[Sym, Expr]


def element_count(bytes_: Expr, size: int, values: Values) -> Expr:
    """``bytes_ / size`` in i64; exact factors cancel, looking through ``Let`` values where that is needed."""
    found = quotient(bytes_, size, values)
    if found is None:
        return binary("div", plain(bytes_), literal(size, DType.I64))
    return plain(found)


def quotient(expr: Expr, divisor: int, values: Values) -> Expr | None:
    """``expr / divisor`` where that is exact by the form of ``expr``; None where it is not."""
    if divisor == 1:
        return expr
    match expr:
        case Const(value, dtype):
            return literal(int(value) // divisor, dtype) if not dtype.is_float and int(value) % divisor == 0 else None
        case Cast(a, DType() as target) if target.is_int and isinstance(a.type, DType) and a.type.is_int:
            inner = quotient(a, divisor, values)
            return None if inner is None else convert(inner, target)
        case Binary("mul", a, b):
            return _product(a, b, divisor, values)
        case Binary(("add" | "sub") as op, a, b):
            x, y = quotient(a, divisor, values), quotient(b, divisor, values)
            return None if x is None or y is None else binary(op, x, y)
        case Binary("shl", a, Const(count, _)):
            return _product(a, literal(1 << int(count), scalar(a.type)), divisor, values)
        case Var(sym, _) if sym in values:
            return quotient(values[sym], divisor, values)
    return None


def _product(a: Expr, b: Expr, divisor: int, values: Values) -> Expr | None:
    for x, y in ((a, b), (b, a)):
        whole = quotient(y, divisor, values)
        if whole is not None:
            return x if isinstance(whole, Const) and whole.value == 1 else binary("mul", x, whole)
    for x, y in ((a, b), (b, a)):
        factor = y.value if isinstance(y, Const) else 0
        common = math.gcd(int(factor), divisor) if factor else 1
        if common > 1:
            part = quotient(x, divisor // common, values)
            if part is not None:
                return binary("mul", part, convert(literal(int(factor) // common, DType.I64), part.type))
    return None


def plain(expr: Expr) -> Expr:
    """A size in i64, without the conversions between integer types around it."""
    if isinstance(expr, Cast) and isinstance(expr.a.type, DType) and expr.a.type.is_int:
        return plain(expr.a)
    return convert(expr, DType.I64)


def expanded(expr: Expr, values: Values) -> Expr:
    """``expr`` with every ``Let`` replaced by its value."""

    def one(e: Expr) -> Expr:
        return expanded(values[e.sym], values) if isinstance(e, Var) and e.sym in values else e

    return rewrite_expr(expr, one)


def over(expr: Expr, names: frozenset[Sym]) -> bool:
    """Whether an expression reads nothing but these values."""
    return all(not isinstance(e, Load) and (not isinstance(e, Var) or e.sym in names) for e in walk_expr(expr))
