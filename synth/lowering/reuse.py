"""Where iterations of a loop read the same vectors: there, running several of them at once saves loads and fills the pipelines."""

from __future__ import annotations

from collections.abc import Iterator

from synth.ir.dtypes import Vec
from synth.ir.grammar import Alloc, Body, Expr, For, If, Let, Load, Module, Store, Sym, Var
from synth.ir.traversal import bodies, site_names, stmt_exprs, walk, walk_expr


def reuse_loops(module: Module) -> tuple[str, ...]:
    """Sites of loops with step one, innermost first and one at most in each nest, inside of which an accumulation of vectors in a register
    private to the iteration reads vectors that do not depend on the loop."""
    names = site_names(module)
    found: list[str] = []
    taken: set[Sym] = set()
    for loop in reversed([s for s in walk(module.body) if isinstance(s, For)]):
        inner = {s.sym for s in walk(loop.body) if isinstance(s, For)}
        if inner & taken or not _shares(loop):
            continue
        found.append(names[loop.sym])
        taken.add(loop.sym)
    return tuple(found)


def _shares(loop: For) -> bool:
    private = {s.sym for s in walk(loop.body) if isinstance(s, Alloc)}
    varying = _varying(loop)
    lets = {s.sym: s.value for s in walk(loop.body) if isinstance(s, Let)}
    for inner in (s for s in walk(loop.body) if isinstance(s, For)):
        for store in _direct(inner.body):
            if store.index or store.buf not in private or not isinstance(store.value.type, Vec):
                continue
            loads = list(_loads(store.value, lets))
            if any(e.buf == store.buf for e in loads) and any(
                e.index and isinstance(e.type, Vec) and not _depends(e, varying) for e in loads
            ):
                return True
    return False


def _loads(e: Expr, lets: dict[Sym, Expr]) -> Iterator[Load]:
    """Loads of an expression, those of definitions that it uses among them."""
    for x in walk_expr(e):
        if isinstance(x, Load):
            yield x
        elif isinstance(x, Var) and x.sym in lets:
            yield from _loads(lets[x.sym], lets)


def _direct(body: Body) -> Iterator[Store]:
    """Stores of a loop's own iterations, those of inner loops left out."""
    for s in body:
        if isinstance(s, Store):
            yield s
        if isinstance(s, If):
            for inner in bodies(s):
                yield from _direct(inner)


def _varying(loop: For) -> set[Sym]:
    """Values and buffers of the body that depend on the loop variable."""
    varying = {loop.sym}
    while True:
        size = len(varying)
        for s in walk(loop.body):
            if isinstance(s, Let) and _depends(s.value, varying):
                varying.add(s.sym)
            if isinstance(s, For) and any(_depends(e, varying) for e in (s.lo, s.hi, s.step)):
                varying.add(s.sym)
            if isinstance(s, Store) and any(_depends(e, varying) for e in stmt_exprs(s)):
                varying.add(s.buf)
        if len(varying) == size:
            return varying


def _depends(e: Expr, varying: set[Sym]) -> bool:
    return any((isinstance(x, Var) and x.sym in varying) or (isinstance(x, Load) and x.buf in varying) for x in walk_expr(e))
