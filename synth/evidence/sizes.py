"""Values of integer expressions over the scalar parameters, and the sizes that tests use."""

from __future__ import annotations

from collections.abc import Mapping

from synth.errors import UnsupportedError
from synth.ir.grammar import Binary, Cast, Const, Expr, Module, Select, Unary, Var
from synth.ir.traversal import walk_expr

Scalars = Mapping[str, int | float | bool]


def value_of(expr: Expr, scalars: Scalars) -> int:
    """The value of an integer expression over named scalar parameters, in mathematical integers. Raises UnsupportedError for what is not one."""
    match expr:
        case Const():
            return int(expr.value)
        case Var():
            if expr.sym.name not in scalars:
                raise UnsupportedError(f"a size depends on '{expr.sym.name}', which is no scalar parameter", hint="give it with --extent")
            return int(scalars[expr.sym.name])
        case Cast():
            return value_of(expr.a, scalars)
        case Unary(op="neg"):
            return -value_of(expr.a, scalars)
        case Select():
            return value_of(expr.a if value_of(expr.cond, scalars) else expr.b, scalars)
        case Binary():
            return _binary(expr.op, value_of(expr.a, scalars), value_of(expr.b, scalars))
        case _:
            raise UnsupportedError("a size is not an integer expression over scalar parameters", hint="give it with --extent NAME=EXPR")


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


# Sizes tried when they are parameters: a multiple of everything usual, then what is not: primes, one, just above a power of two.
SIZE_CHOICES: tuple[tuple[int, ...], ...] = (
    (64, 64, 64, 64, 64, 64),
    (37, 53, 29, 41, 31, 43),
    (128, 96, 64, 32, 16, 8),
    (1, 1, 1, 1, 1, 1),
    (33, 17, 65, 5, 3, 7),
)


def size_choices(module: Module, binds: Scalars) -> list[dict[str, int]]:
    """Assignments of the size parameters that are not bound: one (empty) when there are none."""
    free = [name for name in size_parameters(module) if name not in binds]
    if not free:
        return [{}]
    return [{name: choice[i % len(choice)] for i, name in enumerate(free)} for choice in SIZE_CHOICES]
