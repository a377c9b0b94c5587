"""What conditions say, as polynomials that are >= 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from synth.analysis.polynomial import Poly, const_poly
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Expr, Unary, Var

if TYPE_CHECKING:
    from synth.analysis.env import Env

OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


def constraints(cond: Expr, holds: bool, env: Env) -> Iterable[Poly]:
    """Polynomials that are >= 0 when ``cond`` has the value ``holds``."""
    one = const_poly(1)
    match cond:
        case Binary(op="land") if holds:
            yield from constraints(cond.a, True, env)
            yield from constraints(cond.b, True, env)
        case Binary(op="lor") if not holds:
            yield from constraints(cond.a, False, env)
            yield from constraints(cond.b, False, env)
        case Binary(op="and") if holds and cond.type is DType.BOOL:
            yield from constraints(cond.a, True, env)
            yield from constraints(cond.b, True, env)
        case Unary(op="lnot"):
            yield from constraints(cond.a, not holds, env)
        case Var(sym=sym) if sym in env.lets and env.stable(env.lets[sym]):
            yield from constraints(env.lets[sym], holds, env)
        case Binary(op="lt" | "le" | "gt" | "ge" | "eq" | "ne") if isinstance(cond.a.type, DType) and not cond.a.type.is_float:
            a, b = env.normal(cond.a), env.normal(cond.b)
            op = cond.op if holds else OPPOSITE[cond.op]
            if op in ("lt", "le"):
                yield b - a - (one if op == "lt" else Poly())
            elif op in ("gt", "ge"):
                yield a - b - (one if op == "gt" else Poly())
            elif op == "eq":
                yield a - b
                yield b - a
            elif env.never_negative(a - b):
                yield a - b - one
            elif env.never_negative(b - a):
                yield b - a - one


def operands(e: Expr, op: str) -> list[Expr]:
    """The operands of nested ``min`` (or ``max``): a bound below the minimum is below each of them."""
    if isinstance(e, Binary) and e.op == op:
        return [*operands(e.a, op), *operands(e.b, op)]
    return [e]
