"""Expansion: private values that live across a meeting point become arrays over the threads; everything else stays private.

* a ``Let`` of a cheap expression without loads is computed again in each group that uses it;
* any other ``Let`` used in another group than its own is stored in an array over the threads;
* a mutable scalar is an array over the threads in the groups into or out of which its value flows, and a fresh private scalar elsewhere;
* a vector register becomes its lanes, contiguous in the last dimension: arrays hold scalars;
* a private array that is used in more than one group gets the thread dimensions in front of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.ir import builder as b
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import Alloc, Body, Call, Const, Expr, For, If, Let, Load, Math, Region, Space, Stmt, Store, Sym, Var, While
from synth.ir.traversal import (
    bodies,
    expr_children,
    map_stmt_exprs,
    read_buffers,
    rename_buffers,
    rewrite_expr,
    rewrite_stmts,
    stmt_exprs,
    substitute_expr,
    used_values,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.recovery_phases import Control, Group, Node, Scalar
from synth.passes.recovery_uniform import Level

_CHEAP_NODES = 24


def groups(nodes: list[Node]) -> Iterator[Group]:
    """All groups of a tree in program order."""
    for node in nodes:
        if isinstance(node, Group):
            yield node
        elif isinstance(node, Control):
            for inner in node.children:
                yield from groups(inner)


def expand(nodes: list[Node], level: Level) -> None:
    """Rewrites the tree in place so that no group uses a private symbol of another group."""
    index = tuple(b.var(d.sym) for d in level.dims)
    shape: tuple[Expr, ...] = tuple(b.i32(d.extent) for d in level.dims)
    _expand_buffers(nodes, index, shape)
    _expand_lets(nodes, index, shape)


def _insert_before(nodes: list[Node], target: Group, new: list[Node]) -> bool:
    for i, node in enumerate(nodes):
        if node is target:
            nodes[i:i] = new
            return True
        if isinstance(node, Control) and any(_insert_before(inner, target, new) for inner in node.children):
            return True
    return False


# --------------------------------------------------------------------------------------------------- mutable buffers


def _touched(group: Group) -> set[Sym]:
    return read_buffers(tuple(group.stmts)) | written_buffers(tuple(group.stmts))


@dataclass(slots=True)
class _Owned:
    """A private buffer allocated in the frame, the group where, and the groups that use it."""

    alloc: Alloc
    home: Group
    users: list[Group] = field(default_factory=list)


def _owned_buffers(nodes: list[Node]) -> list[_Owned]:
    found: dict[Sym, _Owned] = {}
    for group in groups(nodes):
        for stmt in group.stmts:
            if isinstance(stmt, Alloc) and stmt.space is Space.LOCAL:
                found[stmt.sym] = _Owned(stmt, group)
    for group in groups(nodes):
        for sym in _touched(group):
            if sym in found:
                found[sym].users.append(group)
    return list(found.values())


def _expand_buffers(nodes: list[Node], index: tuple[Expr, ...], shape: tuple[Expr, ...]) -> None:
    for owned in _owned_buffers(nodes):
        if all(g is owned.home for g in owned.users):
            continue
        flow = _Flow(owned)
        flow.nodes(nodes, False)
        shared = [g for g in owned.users if id(g) in flow.carrying] if not owned.alloc.shape else owned.users
        if owned.alloc.init is not None and not any(owned.alloc.sym in written_buffers(tuple(g.stmts)) for g in owned.users):
            shared = []  # a constant table: every group has its own
        _split_buffer(nodes, owned, shared, index, shape)


def _split_buffer(nodes: list[Node], owned: _Owned, shared: list[Group], index: tuple[Expr, ...], shape: tuple[Expr, ...]) -> None:
    alloc, home = owned.alloc, owned.home
    position = next(i for i, s in enumerate(home.stmts) if s is alloc)
    del home.stmts[position]
    if shared:
        wide = _over_threads(alloc.sym.fresh(), alloc.dtype, shape, alloc)
        if alloc.init is not None:
            home.stmts[position:position] = _initial_stores(alloc)
            if home not in shared:
                shared = [*shared, home]
        _insert_before(nodes, home, [Scalar(wide)])
    for group in owned.users if home in owned.users or home not in shared else [*owned.users, home]:
        if group in shared:
            group.stmts[:] = _widen(tuple(group.stmts), alloc.sym, wide.sym, index, _lanes(alloc.dtype))
        else:
            own = alloc.sym if group is home else alloc.sym.fresh()
            renamed = list(rename_buffers(tuple(group.stmts), {alloc.sym: own}))
            at = position if group is home else 0
            group.stmts[:] = [*renamed[:at], dataclasses.replace(alloc, sym=own), *renamed[at:]]


def _lanes(dtype: Type) -> tuple[Expr, ...]:
    """The dimension that the lanes of a register take in an array."""
    return (b.i32(dtype.lanes),) if isinstance(dtype, Vec) else ()


def _over_threads(sym: Sym, dtype: Type, shape: tuple[Expr, ...], alloc: Alloc) -> Alloc:
    """The array over the threads for the buffer ``alloc``."""
    return Alloc(sym, scalar(dtype), shape + alloc.shape + _lanes(dtype), alloc.space, loc=alloc.loc)


def _initial_stores(alloc: Alloc) -> list[Stmt]:
    assert alloc.init is not None
    extents = [b.int_value(e) or 0 for e in alloc.shape]
    out: list[Stmt] = []
    for flat, value in enumerate(alloc.init):
        at: list[Expr] = []
        rest = flat
        for extent in reversed(extents):
            at.insert(0, b.i32(rest % extent))
            rest //= extent
        out.append(Store(alloc.sym, tuple(at), value, loc=alloc.loc))
    return out


def _widen(body: Body, old: Sym, new: Sym, index: tuple[Expr, ...], lanes: tuple[Expr, ...]) -> Body:
    """Redirects accesses of ``old`` to ``new`` with ``index`` in front, and all ``lanes`` of a register behind."""
    first = (b.i32(0),) * len(lanes)

    def expr(e: Expr) -> Expr:
        return dataclasses.replace(e, buf=new, index=index + e.index + first) if isinstance(e, Load) and e.buf == old else e

    def region(r: Expr | Region) -> Expr | Region:
        if not isinstance(r, Region) or r.buf != old:
            return r
        extent = (b.i32(1),) * len(index) + r.extent + lanes if r.extent or lanes else ()
        return Region(new, index + r.index + first, extent)

    def stmt(s: Stmt) -> Stmt:
        s = map_stmt_exprs(s, lambda e: rewrite_expr(e, expr))
        if isinstance(s, Store) and s.buf == old:
            return dataclasses.replace(s, buf=new, index=index + s.index + first)
        if isinstance(s, Call):
            dests = tuple(r for r in (region(d) for d in s.dests) if isinstance(r, Region))
            return dataclasses.replace(s, dests=dests, args=tuple(region(a) for a in s.args))
        return s

    return rewrite_stmts(body, stmt)


# ---------------------------------------------------------------------------------------------------------- liveness


# Backward liveness of one private scalar x over the tree. A group makes x live if it may read x before it surely writes it; it ends x's
# life if it surely writes x in all threads in which x may be live afterwards (in all, or in those of the guards under which x was
# allocated), or allocates it. ``carrying`` are the groups at whose beginning or end x is live.
@dataclass(slots=True)
class _Flow:
    owned: _Owned
    carrying: set[int] = field(default_factory=set)

    def nodes(self, nodes: list[Node], live: bool) -> bool:
        for node in reversed(nodes):
            if isinstance(node, Group):
                live = self._group(node, live)
            elif isinstance(node, Control):
                live = self._control(node, live)
        return live

    def _control(self, node: Control, live: bool) -> bool:
        if isinstance(node.head, If):
            then, orelse = (self.nodes(inner, live) for inner in node.children)
            return then or orelse
        first = self.nodes(node.children[0], live)
        if first and not live:
            first = self.nodes(node.children[0], True)
        return first or live

    def _group(self, group: Group, live: bool) -> bool:
        sym = self.owned.alloc.sym
        body = tuple(group.stmts)
        exposed, written = exposure(body, sym)
        kills = written and group.guards == self.owned.home.guards
        before = exposed or (live and not kills)
        if group is self.owned.home:
            before = False
        if (before or live) and sym in _touched(group):
            self.carrying.add(id(group))
        return before


def exposure(body: Body, sym: Sym, written: bool = False) -> tuple[bool, bool]:
    """``(exposed, written)``: whether the scalar ``sym`` may be read before it is surely written, and whether it surely is."""
    for stmt in body:
        if isinstance(stmt, Alloc) and stmt.sym == sym:
            written = False
        if not written and (any(_reads(e, sym) for e in stmt_exprs(stmt)) or _call_reads(stmt, sym)):
            return True, written
        if (isinstance(stmt, Store) and stmt.buf == sym) or (isinstance(stmt, Call) and any(d.buf == sym for d in stmt.dests)):
            written = True
        elif isinstance(stmt, If):
            then, orelse = exposure(stmt.then, sym, written), exposure(stmt.orelse, sym, written)
            if then[0] or orelse[0]:
                return True, written
            written = then[1] and orelse[1]
        elif isinstance(stmt, For | While) and exposure(stmt.body, sym, written)[0]:
            return True, written
    return False, written


def _reads(expr: Expr, sym: Sym) -> bool:
    return any(isinstance(e, Load) and e.buf == sym for e in walk_expr(expr))


def _call_reads(stmt: Stmt, sym: Sym) -> bool:
    return isinstance(stmt, Call) and any(isinstance(a, Region) and a.buf == sym for a in stmt.args)


# -------------------------------------------------------------------------------------------------------------- lets


def _cheap(expr: Expr) -> bool:
    """Whether computing ``expr`` again costs less than keeping it: no loads, no function calls, few nodes, few of them floating."""
    nodes = list(walk_expr(expr))
    if any(isinstance(e, Load | Math) for e in nodes) or len(nodes) > _CHEAP_NODES:
        return False
    floats = sum(1 for e in nodes if not isinstance(e, Const | Var) and not (isinstance(e.type, DType) and not e.type.is_float))
    return floats <= 1


def _expand_lets(nodes: list[Node], index: tuple[Expr, ...], shape: tuple[Expr, ...]) -> None:
    lets: dict[Sym, tuple[Let, Group]] = {s.sym: (s, g) for g in groups(nodes) for s in g.stmts if isinstance(s, Let)}
    stored: dict[Sym, Sym] = {}
    for group in list(groups(nodes)):
        inside = {s.sym for s in walk(tuple(group.stmts)) if isinstance(s, Let | For)}
        wanted = [s for s in lets if s in used_values(tuple(group.stmts)) and s not in inside]
        for_guards = [g for g in group.guards if g not in {s.sym for s in group.stmts if isinstance(s, Let)}]
        copies = _Copies(lets, stored, nodes, index, shape)
        names = {g: copies.of(g) for g in for_guards}
        group.prelude[:] = copies.made
        made = len(copies.made)
        names |= {s: copies.of(s) for s in wanted}
        values: dict[Sym, Expr] = {old: Var(new, lets[old][0].value.type) for old, new in names.items()}
        body = tuple(_substituted(s, values) for s in group.stmts)
        group.stmts[:] = [*copies.made[made:], *body]
        group.guards = tuple(names.get(g, g) for g in group.guards)


def _substituted(stmt: Stmt, values: dict[Sym, Expr]) -> Stmt:
    new = map_stmt_exprs(stmt, lambda e: substitute_expr(e, values))
    return with_bodies(new, tuple(tuple(_substituted(s, values) for s in inner) for inner in bodies(new)))


@dataclass(slots=True)
class _Copies:
    """Definitions of other groups' Lets for one group: computed again, or read back from an array."""

    lets: dict[Sym, tuple[Let, Group]]
    stored: dict[Sym, Sym]
    nodes: list[Node]
    index: tuple[Expr, ...]
    shape: tuple[Expr, ...]
    made: list[Stmt] = field(default_factory=list)
    known: dict[Sym, Sym] = field(default_factory=dict)

    def of(self, sym: Sym) -> Sym:
        if sym not in self.known:
            let, home = self.lets[sym]
            new = sym.fresh()
            value = self._again(let.value) if _cheap(self._whole(let.value)) else self._stored(let, home)
            self.made.append(Let(new, value, let.loc))
            self.known[sym] = new
        return self.known[sym]

    def _whole(self, value: Expr) -> Expr:
        """``value`` with the private Lets it uses inlined: what computing it again costs."""
        return rewrite_expr(value, lambda e: self._whole(self.lets[e.sym][0].value) if isinstance(e, Var) and e.sym in self.lets else e)

    def _again(self, value: Expr) -> Expr:
        if isinstance(value, Var):
            return Var(self.of(value.sym), value.type) if value.sym in self.lets else value
        return value if not expr_children(value) else rewrite_expr(value, self._leaf)

    def _leaf(self, e: Expr) -> Expr:
        return Var(self.of(e.sym), e.type) if isinstance(e, Var) and e.sym in self.lets else e

    def _stored(self, let: Let, home: Group) -> Expr:
        first = (b.i32(0),) * len(_lanes(let.value.type))
        if let.sym not in self.stored:
            wide = let.sym.fresh()
            self.stored[let.sym] = wide
            _insert_before(
                self.nodes,
                home,
                [Scalar(_over_threads(wide, let.value.type, self.shape, Alloc(wide, let.value.type, (), Space.LOCAL, loc=let.loc)))],
            )
            at = next(i for i, s in enumerate(home.stmts) if isinstance(s, Let) and s.sym == let.sym)
            home.stmts.insert(at + 1, Store(wide, self.index + first, Var(let.sym, let.value.type), loc=let.loc))
        return Load(self.stored[let.sym], self.index + first, let.value.type)
