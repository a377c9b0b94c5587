"""``store_forward``: loads of what was just stored become the stored value; stores that nobody reads disappear."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir import builder as b
from synth.ir.dtypes import Type, Vec
from synth.ir.grammar import Alloc, Body, Const, Expr, For, If, Launch, Let, Load, Module, Stmt, Store, Sym, Var, While
from synth.ir.traversal import (
    all_exprs,
    bodies,
    bound_symbols,
    map_stmt_exprs,
    read_buffers,
    rewrite_expr,
    rewrite_stmts,
    site_names,
    sites,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.cell_liveness import Place, live_after
from synth.passes.concrete import Machine
from synth.spec import DeviceSpec

Index = tuple[Expr, ...]


def _loads(expr: Expr) -> set[Sym]:
    return {e.buf for e in walk_expr(expr) if isinstance(e, Load)}


def _simple(expr: Expr) -> bool:
    """A value that costs no more than the load it replaces."""
    return isinstance(expr, Const | Var) or (isinstance(expr, Load) and not expr.index)


def _distinct(x: Index, y: Index, x_width: int, y_width: int) -> bool:
    """Whether two places surely have no element in common, each so many elements wide in the last dimension: in some dimension both
    indexes are literals, and too far apart."""
    for dimension, (p, q) in enumerate(zip(x, y, strict=True)):
        at, other = b.int_value(p), b.int_value(q)
        last = dimension == len(x) - 1
        if at is not None and other is not None and (at + (x_width if last else 1) <= other or other + (y_width if last else 1) <= at):
            return True
    return False


def _width(type_: Type, element: Type) -> int:
    """How many elements of the buffer a value of this type takes."""
    return type_.lanes if isinstance(type_, Vec) and type_ != element else 1


@dataclass(slots=True)
class _Forward:
    """Rewrites loads of ``buffer``, whose elements are ``element``; ``count`` is how many."""

    buffer: Sym
    element: Type
    count: int = 0

    def body(self, stmts: Body, known: dict[Index, Expr]) -> Body:
        out: list[Stmt] = []
        for stmt in stmts:
            out += self._statement(stmt, known)
        return tuple(out)

    def _expr(self, expr: Expr, known: dict[Index, Expr]) -> Expr:
        def one(e: Expr) -> Expr:
            if isinstance(e, Load) and e.buf == self.buffer and e.mask is None and e.index in known and known[e.index].type == e.type:
                self.count += 1
                return known[e.index]
            return e

        return rewrite_expr(expr, one) if known else expr

    # A value is known at a point if on every path the last write that may touch its element stored it, and nothing its expression reads
    # has been written since. Entering a loop, what the loop may write is forgotten; after a branch, what the branch may write.
    def _statement(self, stmt: Stmt, known: dict[Index, Expr]) -> Body:
        if isinstance(stmt, For | While | Launch):
            self._forget(known, (stmt,))
        new = map_stmt_exprs(stmt, lambda e: self._expr(e, known))
        if isinstance(new, Store) and new.buf == self.buffer:
            return self._store(new, known)
        if isinstance(new, Launch):
            return (new,)
        new = with_bodies(new, tuple(self.body(inner, dict(known)) for inner in bodies(new)))
        if not isinstance(stmt, Let):
            self._forget(known, (stmt,))
        return (new,)

    def _store(self, stmt: Store, known: dict[Index, Expr]) -> Body:
        width = _width(stmt.value.type, self.element)
        for index in [i for i, v in known.items() if not _distinct(i, stmt.index, _width(v.type, self.element), width)]:
            del known[index]
        self._forget_readers(known, self.buffer)
        if stmt.mask is not None:
            known.clear()
            return (stmt,)
        if _simple(stmt.value):
            value, out = stmt.value, (stmt,)
        else:
            let = Let(stmt.buf.fresh(), stmt.value, stmt.loc)
            value = Var(let.sym, stmt.value.type)
            out = (let, dataclasses.replace(stmt, value=value))  # type: ignore[assignment]
        if self.buffer not in _loads(value) and not any(self.buffer in _loads(e) for e in stmt.index):
            known[stmt.index] = value
        return out

    def _forget(self, known: dict[Index, Expr], stmts: Body) -> None:
        written = written_buffers(stmts) | {s.sym for s in walk(stmts) if isinstance(s, Alloc)}
        if self.buffer in written:
            known.clear()
        for sym in written:
            self._forget_readers(known, sym)

    def _forget_readers(self, known: dict[Index, Expr], written: Sym) -> None:
        for index in [i for i, v in known.items() if written in _loads(v) or any(written in _loads(e) for e in i)]:
            del known[index]


def _undo_lets(before: Body, after: Body) -> Body:
    """Puts values back into their stores where the new Let has no other use."""
    old = set(bound_symbols(before))
    new = {s.sym: s.value for s in walk(after) if isinstance(s, Let) and s.sym not in old}
    uses: dict[Sym, int] = {}
    for e in all_exprs(after):
        if isinstance(e, Var):
            uses[e.sym] = uses.get(e.sym, 0) + 1
    single = {s for s in new if uses.get(s, 0) <= 1}

    def one(stmt: Stmt) -> Stmt | Body:
        if isinstance(stmt, Let) and stmt.sym in single:
            return ()
        if isinstance(stmt, Store) and isinstance(stmt.value, Var) and stmt.value.sym in single:
            return dataclasses.replace(stmt, value=new[stmt.value.sym])
        return stmt

    return rewrite_stmts(after, one)


# ------------------------------------------------------------------------------------------------------- dead stores


def _without_dead_stores(module: Module, buffer: Sym, element: Type, is_param: bool) -> Module:
    """Removes stores to literal elements that are not read before the next write, or all stores when nothing is read."""
    if is_param:
        return module
    if buffer not in read_buffers(module.body):
        return dataclasses.replace(module, body=_without_buffer(module.body, buffer))
    return dataclasses.replace(module, body=_prune(module.body, buffer, element, ()))


def _without_buffer(body: Body, buffer: Sym) -> Body:
    def one(stmt: Stmt) -> Stmt | Body:
        if isinstance(stmt, Store | Alloc) and buffer == (stmt.buf if isinstance(stmt, Store) else stmt.sym):
            return ()
        if isinstance(stmt, If | For) and not any(bodies(stmt)):
            return ()
        return stmt

    return rewrite_stmts(body, one)


def _prune(body: Body, buffer: Sym, element: Type, outer: tuple[Place, ...]) -> Body:
    out: list[Stmt] = []
    for i, stmt in enumerate(body):
        own = isinstance(stmt, Store) and stmt.buf == buffer and stmt.value.type == element
        if isinstance(stmt, Store) and own and all(b.int_value(e) is not None for e in stmt.index):
            cell = (buffer, tuple(b.int_value(e) or 0 for e in stmt.index))
            if not live_after(buffer, (*outer, Place(body, i + 1)), Machine(0), False).live(cell):
                continue
        here = (*outer, Place(body, i + 1, stmt))
        out.append(
            stmt if isinstance(stmt, Launch) else with_bodies(stmt, tuple(_prune(inner, buffer, element, here) for inner in bodies(stmt)))
        )
    return tuple(out)


def _element(module: Module, buffer: Sym) -> Type:
    found: list[Type] = [p.dtype for p in module.params if p.sym == buffer]
    found += [s.dtype for s in walk(module.body) if isinstance(s, Alloc) and s.sym == buffer]
    return found[0]


def forward(module: Module, buffer: Sym) -> tuple[Module, int]:
    """The module with loads of ``buffer`` forwarded and its dead stores removed, and how many loads were forwarded."""
    element = _element(module, buffer)
    work = _Forward(buffer, element)
    body = work.body(module.body, {})
    module = dataclasses.replace(module, body=_undo_lets(module.body, body) if work.count else module.body)
    return _without_dead_stores(module, buffer, element, any(p.sym == buffer for p in module.params)), work.count


@dataclass(frozen=True, slots=True)
class StoreForward:
    """Forwards stores of one buffer to loads of the same element.

    Before::

        v[0] = acc;  sh[w] = v[0];           // v is not read again

    After::

        sh[w] = acc;

    ``site``: the buffer. A buffer that is no longer read disappears.
    """

    name: ClassVar[str] = "store_forward"
    site: str = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        written = written_buffers(module.body)
        allocated = {s.sym for s in walk(module.body) if isinstance(s, Alloc)}
        found: list[Self] = []
        for sym, site in site_names(module).items():
            if (sym in written or sym in allocated) and forward(module, sym)[0] != module:
                found.append(cls(site))
        return tuple(found)

    # A load is replaced where the value of its element is known (see _Forward). A store is removed where its element, a literal index, is
    # not read before it is overwritten on any path (cell_liveness), or where the buffer is never read. Parameters' stores stay: the caller
    # reads them. Elements at different symbolic indexes may be the same: such a store forgets all.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        sym = sites(module).get(self.site)
        if sym is None:
            return Illegal("no such buffer", self.site)
        if forward(module, sym)[0] == module:
            return Illegal("no load of this buffer has a known value, and no store of it is dead", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        return forward(module, sites(module)[self.site])[0]
