"""``copy_elimination``: an array that only repeats values available elsewhere disappears."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir import builder as b
from synth.ir.grammar import Alloc, Body, Call, Expr, For, Launch, Let, Load, Math, Module, Region, Stmt, Store, Sym, Var
from synth.ir.traversal import (
    all_exprs,
    bodies,
    read_buffers,
    rewrite_expr,
    rewrite_exprs,
    rewrite_stmts,
    site_names,
    substitute_expr,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

_CHEAP_NODES = 12


@dataclass(frozen=True, slots=True)
class _Copy:
    """``body[definition]`` is the nest that sets array ``p[loops...] = value``; ``value`` reads no Let of the nest."""

    body: Body
    definition: int
    p: Sym
    loops: tuple[Sym, ...]
    value: Expr

    @property
    def uniform(self) -> bool:
        return not any(isinstance(e, Var) and e.sym in self.loops for e in walk_expr(self.value))


def _candidates(module: Module, body: Body) -> Iterator[_Copy]:
    for i, stmt in enumerate(body):
        if isinstance(stmt, Launch):
            continue
        for inner in bodies(stmt):
            yield from _candidates(module, inner)
        if isinstance(stmt, Alloc) and stmt.shape and stmt.init is None:
            found = _definition(body, stmt, i)
            if found is not None:
                yield found


def _definition(body: Body, alloc: Alloc, start: int) -> _Copy | None:
    p = alloc.sym
    writers = [i for i in range(start + 1, len(body)) if p in written_buffers((body[i],))]
    if not writers:
        return None
    j = writers[-1]
    stores = [s for s in walk((body[j],)) if isinstance(s, Store) and s.buf == p]
    if len(stores) != 1 or stores[0].mask is not None or p in read_buffers((body[j],)) or _called(body, p):
        return None
    nest = _nest(body[j], stores[0])
    if nest is None or not _one_by_one(body, stores[0], alloc):
        return None
    loops, lets = nest
    value = stores[0].value
    for _ in lets:
        value = substitute_expr(value, lets)
    found = _Copy(body, j, p, tuple(s.sym for s in loops), value)
    own_index = stores[0].index == tuple(Var(s.sym, s.dtype) for s in loops)
    if len(writers) > 1 and not (own_index and _covers(loops, alloc)):
        return None
    if not own_index and not found.uniform:
        return None
    return found if p in read_buffers(body[j + 1 :]) and _stable(found) else None


def _called(body: Body, p: Sym) -> bool:
    return any(isinstance(s, Call) and any(isinstance(r, Region) and r.buf == p for r in (*s.dests, *s.args)) for s in walk(body))


def _one_by_one(body: Body, store: Store, alloc: Alloc) -> bool:
    """Whether elements are written and read one at a time: several lanes of a vector are several elements."""
    loads = (e for e in all_exprs(body) if isinstance(e, Load) and e.buf == alloc.sym)
    return store.value.type == alloc.dtype and all(e.type == alloc.dtype and e.mask is None for e in loads)


def _covers(loops: tuple[For, ...], alloc: Alloc) -> bool:
    """Whether the loops visit every element of the array."""
    return all(
        b.int_value(loop.lo) == 0 and b.int_value(loop.step) == 1 and b.int_value(extent) is not None and loop.hi == extent
        for loop, extent in zip(loops, alloc.shape, strict=True)
    )


def _nest(stmt: Stmt, store: Store) -> tuple[tuple[For, ...], dict[Sym, Expr]] | None:
    """The loops around ``store`` and the Lets before it in them, when nothing but loops stands around it."""
    loops: list[For] = []
    lets: dict[Sym, Expr] = {}
    while stmt is not store:
        if not isinstance(stmt, For):
            return None
        loops.append(stmt)
        position = next((i for i, s in enumerate(stmt.body) if any(t is store for t in walk((s,)))), None)
        if position is None:
            return None
        lets |= {s.sym: s.value for s in stmt.body[:position] if isinstance(s, Let)}
        stmt = stmt.body[position]
    return tuple(loops), lets


def _stable(found: _Copy) -> bool:
    """Whether the value can be computed again wherever the array is read."""
    nodes = list(walk_expr(found.value))
    bound = {s.sym for s in walk((found.body[found.definition],)) if isinstance(s, Let | For | Alloc)} - set(found.loops)
    if any(isinstance(e, Var) and e.sym in bound for e in nodes) or any(isinstance(e, Load) and e.buf in bound for e in nodes):
        return False
    reads = {e.buf for e in nodes if isinstance(e, Load)}
    if found.p in reads or reads & written_buffers(found.body[found.definition :]):
        return False
    if found.uniform:
        return True
    loads = sum(1 for e in nodes if isinstance(e, Load))
    return loads <= 1 and len(nodes) <= _CHEAP_NODES and not any(isinstance(e, Math) for e in nodes)


def _eliminate(found: _Copy) -> Body:
    value, once = found.value, ()
    if found.uniform and not isinstance(value, Var):
        let = Let(found.p.fresh(), value)
        value, once = Var(let.sym, found.value.type), (let,)  # type: ignore[assignment]

    def expr(e: Expr) -> Expr:
        if not isinstance(e, Load) or e.buf != found.p:
            return e
        return value if found.uniform else substitute_expr(value, dict(zip(found.loops, e.index, strict=True)))

    def undefined(stmt: Stmt) -> Stmt | Body:
        if isinstance(stmt, Store) and stmt.buf == found.p:
            return ()
        return () if isinstance(stmt, For) and not stmt.body else stmt

    j = found.definition
    before = found.body[:j]
    if found.p not in written_buffers(before) | read_buffers(before):
        before = tuple(s for s in before if not (isinstance(s, Alloc) and s.sym == found.p))
    rest = rewrite_exprs(found.body[j + 1 :], lambda e: rewrite_expr(e, expr))
    return (*before, *once, *rewrite_stmts(found.body[j : j + 1], undefined), *rest)


def _replace_body(body: Body, old: Body, new: Body) -> Body:
    if body is old:
        return new
    return tuple(with_bodies(s, tuple(_replace_body(inner, old, new) for inner in bodies(s))) for s in body)


@dataclass(frozen=True, slots=True)
class CopyElimination:
    """Reads of an array become the value that its only definition gave it.

    Before::

        for t<32 { m[t] = max; }   for t<32 { y[t] = x[t] - m[t]; }

    After::

        let m = max;               for t<32 { y[t] = x[t] - m; }

    ``site``: the array.
    """

    name: ClassVar[str] = "copy_elimination"
    site: str = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        names = site_names(module)
        return tuple(cls(names[c.p]) for c in _candidates(module, module.body))

    # p is allocated in this body and accessed one element at a time; the last statement of the body that writes p is a nest of loops
    # with one store p[i] = value for each i of the nest and nothing else around. value is a function of i and of what is in scope before
    # the nest, and what it loads is not written from the nest to the end of the body, where p ends. So each later read of p[k] gives
    # value(k), if the nest sets p[k]: it sets all of p, or it is the only writer (a read of an element that nothing sets is undefined).
    # The value is computed again only where that costs no more than a load and an addition; a value that does not depend on i is
    # computed once.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        if self._find(module) is None:
            return Illegal("not an array with one definition that can be computed where it is read", self.site)
        return Legal()

    def _find(self, module: Module) -> _Copy | None:
        names = site_names(module)
        return next((c for c in _candidates(module, module.body) if names[c.p] == self.site), None)

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._find(module)
        assert found is not None
        return dataclasses.replace(module, body=_replace_body(module.body, found.body, _eliminate(found)))
