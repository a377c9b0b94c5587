"""Ranges of integer expressions, as far as literals, known variables and simple arithmetic tell. Used only to choose how a loop is
written."""

from __future__ import annotations

from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Cast, Const, Expr, Select, Var

Interval = tuple[int, int]


def bounds(reader: Reader, expr: Expr) -> Interval | None:
    """The smallest and largest value of an integer expression, or None where it is unknown beyond its type. Never wraps: an
    interval that leaves the type is unknown."""
    if not isinstance(expr.type, DType) or expr.type.is_float:
        return None
    found = _raw(reader, expr)
    if found is None or not expr.type.min_int <= found[0] <= found[1] <= expr.type.max_int:
        return (0, expr.type.max_int) if expr.type.is_unsigned_int else None
    return found


def positive_unless_wrapping(reader: Reader, expr: Expr) -> bool:
    """Whether an integer expression is positive as long as no arithmetic in it wraps (``blockDim.x * gridDim.x``)."""
    low = bounds(reader, expr)
    if low is not None and low[0] > 0:
        return True
    match expr:
        case Var(sym, _):
            bound = reader.values.get(sym)
            return bound is not None and positive_unless_wrapping(reader, bound)
        case Cast(a, DType()) if isinstance(a.type, DType) and not a.type.is_float:
            return positive_unless_wrapping(reader, a)
        case Binary("mul" | "add" | "min" | "max", a, b):
            return positive_unless_wrapping(reader, a) and positive_unless_wrapping(reader, b)
        case _:
            return False


def _raw(reader: Reader, expr: Expr) -> Interval | None:
    match expr:
        case Const(value, _):
            return int(value), int(value)
        case Var(sym, _):
            if sym in reader.ranges:
                return reader.ranges[sym]
            bound = reader.values.get(sym)
            return bounds(reader, bound) if bound is not None else None
        case Cast(a, _):
            return bounds(reader, a)
        case Select(_, a, b):
            x, y = bounds(reader, a), bounds(reader, b)
            return (min(x[0], y[0]), max(x[1], y[1])) if x and y else None
        case Binary(op, a, b):
            return _binary(op, bounds(reader, a), bounds(reader, b))
        case _:
            return None


def _binary(op: str, x: Interval | None, y: Interval | None) -> Interval | None:
    if x is None or y is None:
        return None
    if op == "add":
        return x[0] + y[0], x[1] + y[1]
    if op == "sub":
        return x[0] - y[1], x[1] - y[0]
    if op == "mul":
        corners = [a * b for a in x for b in y]
        return min(corners), max(corners)
    if op in ("min", "max"):
        pick = min if op == "min" else max
        return pick(x[0], y[0]), pick(x[1], y[1])
    if x[0] < 0 or y[0] < 0:
        return None
    if op == "div" and y[0] > 0:
        return x[0] // y[1], x[1] // y[0]
    if op == "mod" and y[0] > 0:
        return 0, min(x[1], y[1] - 1)
    if op == "shr":
        return x[0] >> min(y[1], 64), x[1] >> min(y[0], 64)
    if op == "and":
        return 0, min(x[1], y[1])
    return None
