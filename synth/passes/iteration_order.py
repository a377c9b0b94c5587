"""Whether the iterations of a loop may run in any order: a quick syntactic test that proves the common cases and refuses the rest."""

from __future__ import annotations

from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Cast,
    Const,
    Expr,
    For,
    Launch,
    Let,
    Load,
    Return,
    Store,
    Sym,
    Sync,
    Unary,
    Var,
)
from synth.ir.traversal import all_exprs, bound_symbols, stmt_exprs, substitute_expr, walk, walk_expr, written_buffers
from synth.passes.reduction_merge import as_accumulate


def coefficient(expr: Expr, sym: Sym) -> int | None:
    """``c`` such that ``expr = c * sym + rest`` with ``rest`` free of ``sym``; None when there is no such literal."""
    match expr:
        case Var():
            return 1 if expr.sym == sym else 0
        case Cast() if isinstance(expr.type, DType) and expr.type.is_int:
            return coefficient(expr.a, sym)
        case Unary("neg", a):
            c = coefficient(a, sym)
            return None if c is None else -c
        case Binary("add" | "sub", x, y):
            cx, cy = coefficient(x, sym), coefficient(y, sym)
            return None if cx is None or cy is None else cx + (cy if expr.op == "add" else -cy)
        case Binary("mul", x, y):
            cx, cy = coefficient(x, sym), coefficient(y, sym)
            if cx == 0 and cy == 0:
                return 0
            if cx is not None and isinstance(y, Const):
                return cx * int(y.value)
            return cy * int(x.value) if cy is not None and isinstance(x, Const) else None
        case _:
            return None if any(isinstance(e, Var) and e.sym == sym for e in walk_expr(expr)) else 0


def _accesses(body: Body, buffer: Sym, lets: dict[Sym, Expr]) -> set[tuple[Expr, ...]]:
    found = {e.index for e in all_exprs(body) if isinstance(e, Load) and e.buf == buffer}
    found |= {s.index for s in walk(body) if isinstance(s, Store) and s.buf == buffer}
    return {tuple(_inlined(e, lets) for e in index) for index in found}


def _inlined(expr: Expr, lets: dict[Sym, Expr]) -> Expr:
    for _ in lets:
        expr = substitute_expr(expr, lets)
    return expr


# Two iterations commute if no element that one writes is accessed by the other, except by steps "acc = acc op e" with one associative and
# commutative op (over the reals). Shown for each buffer that the body writes and does not allocate:
#   reduction: every access is such a step of the same op; or
#   own element: every access has one and the same index, which in some dimension is c * i + (something fixed during the loop), c != 0,
#   where i is the loop variable: different iterations touch different elements (an index that wrapped would be out of bounds).
def any_order(loop: For) -> tuple[bool, bool]:
    """``(proved, over the reals only)``."""
    body = loop.body
    if any(isinstance(s, Break | Return | Call | Sync | Launch) for s in walk(body)):
        return False, False
    lets = {s.sym: s.value for s in walk(body) if isinstance(s, Let)}
    bound = set(bound_symbols(body))
    own = {s.sym for s in walk(body) if isinstance(s, Alloc)}
    reals = False
    for buffer in written_buffers(body) - own:
        if _reduces(body, buffer):
            reals = True
        elif not _own_element(_accesses(body, buffer, lets), loop.sym, bound, written_buffers(body)):
            return False, False
    return True, reals


def _reduces(body: Body, buffer: Sym) -> bool:
    stores = [s for s in walk(body) if isinstance(s, Store) and s.buf == buffer]
    steps = [as_accumulate(s) for s in stores]
    reads = sum(1 for s in walk(body) for e in stmt_exprs(s) for n in walk_expr(e) if isinstance(n, Load) and n.buf == buffer)
    return None not in steps and len({s.op for s in steps if s is not None}) == 1 and reads == len(stores)


def _own_element(indexes: set[tuple[Expr, ...]], sym: Sym, bound: set[Sym], written: set[Sym]) -> bool:
    if len(indexes) != 1:
        return False
    return any(_moves(e, sym, bound, written) for e in next(iter(indexes)))


def _moves(expr: Expr, sym: Sym, bound: set[Sym], written: set[Sym]) -> bool:
    nodes = list(walk_expr(expr))
    if any(isinstance(e, Var) and e.sym in bound for e in nodes) or any(isinstance(e, Load) and e.buf in written for e in nodes):
        return False
    return coefficient(expr, sym) not in (None, 0)
