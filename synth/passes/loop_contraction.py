"""``loop_contraction``: an array over a loop becomes private to its iterations."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.dtypes import scalar
from synth.ir.grammar import Alloc, Body, Call, Cast, Expr, For, If, Load, Module, Region, Space, Stmt, Store, Sym, Var
from synth.ir.traversal import all_exprs, bodies, find_alloc, path_to, rewrite_exprs, rewrite_stmts, site_names, walk
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class LoopContraction:
    """Drops the dimension of a private array that only ever holds the current iteration's element, and moves the array into the loop.

    Before: ``alloc x[16]; for i in 0..16 { x[i] = A[i]; C[i] = x[i] * x[i] }``
    After:  ``for i in 0..16 { alloc x[]; x[] = A[i]; C[i] = x[] * x[] }``
    """

    name: ClassVar[str] = "loop_contraction"
    buf: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Arrays that qualify."""
        names = site_names(module)
        found = [s for s in walk(module.body) if isinstance(s, Alloc) and s.shape and s.init is None and s.space is Space.LOCAL]
        return tuple(cls(names[s.sym]) for s in found if not isinstance(_plan(module, s), str))

    # All accesses of the array lie in one loop L that runs once in the array's lifetime, and all of them have L's variable as their index
    # in one dimension: then no element is shared between iterations, and each iteration may have its own.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        array = find_alloc(module, self.buf)
        if array is None or not array.shape or array.init is not None:
            return Illegal(f"there is no private array '{self.buf}'", self.buf)
        plan = _plan(module, array)
        return Illegal(plan, self.buf) if isinstance(plan, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        array = find_alloc(module, self.buf)
        plan = _plan(module, array) if array else "there is no such array"
        if array is None or isinstance(plan, str):
            raise IllegalPassError(f"loop_contraction {self.buf}: {plan}")
        loop, dimension = plan
        smaller = dataclasses.replace(array, shape=_drop(array.shape, dimension))

        def rewrite(s: Stmt) -> Stmt | Body:
            if s is array or (isinstance(s, Alloc) and s.sym == array.sym):
                return ()
            if isinstance(s, For) and s.sym == loop.sym:
                return dataclasses.replace(s, body=(smaller, *_dropped(s.body, array.sym, dimension)))
            return s

        return dataclasses.replace(module, body=rewrite_stmts(module.body, rewrite))


def _drop(items: tuple[Expr, ...], dimension: int) -> tuple[Expr, ...]:
    return items[:dimension] + items[dimension + 1 :]


def _dropped(body: Body, buf: Sym, dimension: int) -> Body:
    def expr(e: Expr) -> Expr:
        return dataclasses.replace(e, index=_drop(e.index, dimension)) if isinstance(e, Load) and e.buf == buf else e

    def stmt(s: Stmt) -> Stmt:
        return dataclasses.replace(s, index=_drop(s.index, dimension)) if isinstance(s, Store) and s.buf == buf else s

    return rewrite_stmts(rewrite_exprs(body, expr), stmt)


def _plan(module: Module, array: Alloc) -> tuple[For, int] | str:
    """The loop and the dimension, or why there is none."""
    home = _home(module.body, array)
    loop = _single_loop(home, array.sym)
    if loop is None:
        return "its accesses lie in more than one loop"
    indexes = [e.index for e in all_exprs(loop.body) if isinstance(e, Load) and e.buf == array.sym]
    indexes += [s.index for s in walk(loop.body) if isinstance(s, Store) and s.buf == array.sym]
    if any(isinstance(r, Region) and r.buf == array.sym for s in walk(loop.body) if isinstance(s, Call) for r in (*s.dests, *s.args)):
        return "a call takes a region of it"
    vectors = any(isinstance(e, Load) and e.buf == array.sym and e.type != array.dtype for e in all_exprs(loop.body))
    variable = Var(loop.sym, loop.dtype)
    for dimension in range(len(array.shape)):
        if vectors and dimension == len(array.shape) - 1:
            continue
        if all(_strip(i[dimension]) == variable for i in indexes):
            return loop, dimension
    return f"no dimension is indexed by '{loop.sym.name}' alone"


def _strip(e: Expr) -> Expr:
    """An index without a conversion that keeps different values apart."""
    return e.a if isinstance(e, Cast) and isinstance(e.a, Var) and scalar(e.type).bits >= scalar(e.a.type).bits else e


def _home(body: Body, array: Alloc) -> Body:
    """The statements after the array's allocation in the body where it stands."""
    path = path_to(body, array) or ()
    inner = body
    for parent in path[:-1]:
        inner = next(b for b in bodies(parent) if any(path_to(b, s) for s in path[-1:]))
    return inner


def _single_loop(body: Body, buf: Sym) -> For | None:
    """The outermost loop that holds all accesses of a buffer, reached from its allocation through no other loop."""
    users = [s for s in body if not (isinstance(s, Alloc) and s.sym == buf) and _mentions(s, buf)]
    if len(users) != 1:
        return None
    (user,) = users
    if isinstance(user, For):
        return user if user.axis is None else None
    if not isinstance(user, If):
        return None
    inner = [b for b in bodies(user) if any(_mentions(s, buf) for s in b)]
    return _single_loop(inner[0], buf) if len(inner) == 1 else None


def _mentions(stmt: Stmt, buf: Sym) -> bool:
    found = any(isinstance(e, Load) and e.buf == buf for e in all_exprs((stmt,)))
    return found or any(
        (isinstance(s, Store) and s.buf == buf)
        or (isinstance(s, Call) and any(isinstance(r, Region) and r.buf == buf for r in (*s.dests, *s.args)))
        for s in walk((stmt,))
    )
