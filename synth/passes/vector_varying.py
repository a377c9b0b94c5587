"""What differs between the lanes of a vectorised loop."""

from __future__ import annotations

from synth.ir.grammar import Alloc, Body, Expr, For, If, Let, Load, Store, Sym, Var, While
from synth.ir.traversal import walk, walk_expr


def depends(expr: Expr, changing: set[Sym]) -> bool:
    """Whether an expression reads a value or a buffer of ``changing``."""
    return any((isinstance(e, Var) and e.sym in changing) or (isinstance(e, Load) and e.buf in changing) for e in walk_expr(expr))


# A value varies if its definition does; a private buffer if something that varies is stored to it, or stored where that varies, or stored
# under a condition or in a loop that varies. The least fixed point.
def varying(body: Body, x: Sym) -> set[Sym]:
    """Values and private buffers of the body of the loop over ``x`` that may differ between its iterations, ``x`` included."""
    private = {s.sym for s in walk(body) if isinstance(s, Alloc)}
    found, size = {x}, 0
    while size < len(found):
        size = len(found)
        _spread(body, found, private, False)
    return found


def _spread(body: Body, found: set[Sym], private: set[Sym], controlled: bool) -> None:
    for s in body:
        match s:
            case Let():
                if depends(s.value, found):
                    found.add(s.sym)
            case Store():
                if s.buf in private and (controlled or any(depends(e, found) for e in (s.value, *s.index))):
                    found.add(s.buf)
            case For():
                _spread(s.body, found, private, controlled or any(depends(e, found) for e in (s.lo, s.hi, s.step)))
            case While():
                _spread(s.body, found, private, controlled or depends(s.cond, found))
            case If():
                inner = controlled or depends(s.cond, found)
                _spread(s.then, found, private, inner)
                _spread(s.orelse, found, private, inner)
