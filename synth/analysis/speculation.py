"""What may be evaluated where the program does not evaluate it: under a condition that does not hold, or for a loop that does not run."""

from __future__ import annotations

from synth.ir.dtypes import scalar
from synth.ir.grammar import Binary, Const, Expr, Load
from synth.ir.traversal import walk_expr


def is_harmless(*exprs: Expr) -> bool:
    """Whether evaluating the expressions cannot fail whatever the values of their variables: no array is read, nothing divided by what
    may be 0 or -1, nothing shifted by an unknown count (undefined in C11 6.5.5, 6.5.7)."""
    return not any(may_fail(e) for expr in exprs for e in walk_expr(expr))


def may_fail(e: Expr) -> bool:
    """Whether the outermost operation of an expression may fail."""
    if isinstance(e, Load):
        return bool(e.index)
    if not isinstance(e, Binary) or not scalar(e.type).is_int:
        return False
    if e.op in ("div", "mod"):
        return not (isinstance(e.b, Const) and int(e.b.value) not in (0, -1))
    return e.op in ("shl", "shr") and not (isinstance(e.b, Const) and 0 <= int(e.b.value) < scalar(e.type).bits)
