"""Values of integer expressions over the scalar parameters, and which of these are sizes."""

from __future__ import annotations

from collections.abc import Mapping

from synth.errors import UnsupportedError
from synth.ir.grammar import Binary, Cast, Const, Expr, Module, Select, Sym, Unary, Var
from synth.ir.traversal import walk_expr

Scalars = Mapping[str, int | float | bool]


def value_of(expr: Expr, scalars: Scalars, known: Mapping[Sym, int] | None = None) -> int:
    """The value of an integer expression over named scalar parameters (and symbols whose values are ``known``), in mathematical integers.

    Raises UnsupportedError for what is not one.
    """
    match expr:
        case Const():
            return int(expr.value)
        case Var():
            if known and expr.sym in known:
                return known[expr.sym]
            if expr.sym.name not in scalars:
                raise UnsupportedError(f"a size depends on '{expr.sym.name}', which is no scalar parameter", hint="give it with --extent")
            return int(scalars[expr.sym.name])
        case Cast():
            return value_of(expr.a, scalars, known)
        case Unary(op="neg"):
            return -value_of(expr.a, scalars, known)
        case Select():
            return value_of(expr.a if value_of(expr.cond, scalars, known) else expr.b, scalars)
        case Binary():
            return _binary(expr.op, value_of(expr.a, scalars, known), value_of(expr.b, scalars, known))
        case _:
            raise UnsupportedError("a size is not an integer expression over scalar parameters", hint="give it with --extent NAME=EXPR")


def try_value(expr: Expr, scalars: Scalars, known: Mapping[Sym, int] | None = None) -> int | None:
    """``value_of``, or None where it has none."""
    try:
        return value_of(expr, scalars, known)
    except UnsupportedError:
        return None


def _binary(op: str, a: int, b: int) -> int:
    if op in ("div", "mod"):
        if b == 0:
            raise UnsupportedError("a size divides by zero", hint="give other values with --bind")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "div" else a - quotient * b
    operations = {
        "add": a + b, "sub": a - b, "mul": a * b, "min": min(a, b), "max": max(a, b), "lt": int(a < b), "le": int(a <= b), "gt": int(a > b),
        "ge": int(a >= b), "eq": int(a == b), "ne": int(a != b), "and": a & b, "or": a | b, "xor": a ^ b, "land": int(bool(a and b)),
        "lor": int(bool(a or b)),
    }  # fmt: skip
    if op in ("shl", "shr"):
        if not 0 <= b < 64:
            raise UnsupportedError("a size shifts by a strange amount")
        return a << b if op == "shl" else a >> b
    if op not in operations:
        raise UnsupportedError(f"a size uses the operator {op}")
    return operations[op]


def size_parameters(module: Module) -> tuple[str, ...]:
    """Integer parameters on which the extent of some buffer depends, in the order of the parameters."""
    used = {e.sym for p in module.params for x in p.shape or () for e in walk_expr(x) if isinstance(e, Var)}
    return tuple(p.sym.name for p in module.params if not p.is_buffer and p.dtype.is_int and p.sym in used)
