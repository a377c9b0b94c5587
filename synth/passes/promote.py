"""``promote``: an element that a loop updates again and again is kept in a register."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.linear import Env, module_env, step_into
from synth.errors import IllegalPassError
from synth.ir.grammar import Alloc, Body, Call, Expr, For, If, Let, Load, Module, Region, Space, Stmt, Store, Sym, Var
from synth.ir.traversal import all_exprs, bodies, bound_symbols, replace_stmt, rewrite_exprs, rewrite_stmts, site_names, walk, walk_expr
from synth.ir.traversal import written_buffers as written
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Promote:
    """Loads an element before a loop, updates it in a register, and stores it after the loop.

    Before: ``for k { C[i] = C[i] + A[k] }``
    After:  ``alloc c[]; c[] = C[i]; for k { c[] = c[] + A[k] }; C[i] = c[]``
    """

    name: ClassVar[str] = "promote"
    loop: str
    buf: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Elements that qualify, in the outermost loop that allows it."""
        names = site_names(module)
        found, seen = [], set[Sym]()
        for loop, env in _loops(module.body, module_env(module)):
            for buf in sorted(written(loop.body), key=lambda s: s.uid):
                inside = any(isinstance(s, For) and s.sym in seen for s in _around(module, loop))
                if not inside and not isinstance(_plan(loop, buf, env), str):
                    found.append(cls(names[loop.sym], names[buf]))
                    seen.add(loop.sym)
        return tuple(found)

    # All accesses of the buffer in the loop are of one element, whose index is fixed during the loop; the loop runs at least once, and
    # each of its iterations accesses the element: so the load before the loop and the store after it touch nothing that the loop does not.
    # No other buffer overlaps.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = self._find(module)
        return Illegal(found, self.loop) if isinstance(found, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._find(module)
        if isinstance(found, str):
            raise IllegalPassError(f"promote {self.buf}: {found}")
        return dataclasses.replace(module, body=replace_stmt(module.body, found[0], _rewritten(*found)))

    def _find(self, module: Module) -> tuple[For, Load] | str:
        names = site_names(module)
        for loop, env in _loops(module.body, module_env(module)):
            if names[loop.sym] == self.loop:
                buf = next((s for s in written(loop.body) if names[s] == self.buf), None)
                plan = _plan(loop, buf, env) if buf is not None else f"the loop does not write '{self.buf}'"
                return plan if isinstance(plan, str) else (loop, plan)
        return f"there is no loop '{self.loop}'"


def _loops(body: Body, env: Env) -> Iterator[tuple[For, Env]]:
    """Serial loops with what holds before them, outer ones first."""
    for stmt in body:
        if isinstance(stmt, For) and stmt.axis is None:
            yield stmt, env
        for branch, inner in enumerate(bodies(stmt)):
            yield from _loops(inner, step_into(env, stmt, branch))
        if isinstance(stmt, Let):
            env = env.with_let(stmt)


def _around(module: Module, loop: For) -> tuple[Stmt, ...]:
    from synth.ir.traversal import path_to

    return (path_to(module.body, loop) or ())[:-1]


def _plan(loop: For, buf: Sym, env: Env) -> Load | str:
    """The element, or why it cannot be kept in a register."""
    if any(isinstance(s, Alloc) and s.sym == buf for s in walk(loop.body)):
        return f"'{buf.name}' lives within an iteration"
    stores = [s for s in walk(loop.body) if isinstance(s, Store) and s.buf == buf]
    loads = [e for e in all_exprs(loop.body) if isinstance(e, Load) and e.buf == buf]
    if not stores or not stores[0].index or not loads:
        return f"'{buf.name}' is no array that the loop reads and writes"
    if any(isinstance(s, Call) and any(isinstance(r, Region) and r.buf == buf for r in (*s.dests, *s.args)) for s in walk(loop.body)):
        return "a call takes a region of it"
    index, kind = stores[0].index, stores[0].value.type
    same = all(s.index == index and s.mask is None and s.value.type == kind for s in stores)
    if not same or any(e.index != index or e.mask is not None or e.type != kind for e in loads):
        return f"the loop accesses more than one element of '{buf.name}'"
    bound, changed = set(bound_symbols((loop,))), written(loop.body)
    if any((isinstance(e, Var) and e.sym in bound) or (isinstance(e, Load) and e.buf in changed) for i in index for e in walk_expr(i)):
        return f"the element of '{buf.name}' changes with the loop"
    if not env.always_positive(env.normal(loop.hi) - env.normal(loop.lo)):
        return "the loop may not run at all"
    if not _always(loop.body, stores[0], env.with_loop(loop)):
        return "an iteration may not access the element"
    return Load(buf, index, kind)


def _always(body: Body, store: Store, env: Env) -> bool:
    """Whether every execution of a body executes the store."""
    for stmt in body:
        if stmt is store:
            return True
        if isinstance(stmt, For) and env.always_positive(env.normal(stmt.hi) - env.normal(stmt.lo)):
            if _always(stmt.body, store, env.with_loop(stmt)):
                return True
        elif isinstance(stmt, If) and _leaves(stmt):
            return False
        if isinstance(stmt, Let):
            env = env.with_let(stmt)
    return False


def _leaves(stmt: If) -> bool:
    from synth.ir.grammar import Break, Continue, Return

    return any(isinstance(s, Break | Continue | Return) for s in walk((stmt,)))


def _rewritten(loop: For, element: Load) -> Body:
    register = element.buf.fresh(f"{element.buf.name}.value")
    own = Load(register, (), element.type)

    def expr(e: Expr) -> Expr:
        return own if e == element else e

    def stmt(s: Stmt) -> Stmt:
        return Store(register, (), s.value, None, s.loc) if isinstance(s, Store) and s.buf == element.buf else s

    new = dataclasses.replace(loop, body=rewrite_stmts(rewrite_exprs(loop.body, expr), stmt))
    begin = (Alloc(register, element.type, (), Space.LOCAL), Store(register, (), element))
    return (*begin, new, Store(element.buf, element.index, own))
