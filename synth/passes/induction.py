"""``induction``: a variable that grows by the same amount in every iteration becomes a function of the loop variable."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.builder import cast, const, int_value
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Module,
    Return,
    Stmt,
    Store,
    Sym,
    Var,
    While,
)
from synth.ir.traversal import bodies, bound_symbols, replace_stmt, rewrite_exprs, site_names, sites, walk, walk_expr, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Induction:
    """Writes a private integer as start + step * iterations, so that indexes become affine again (pointers that walk along arrays).

    Before: ``for k in 0..n { s += A[p[]]; p[] = p[] + 2 }``
    After:  ``let p.start = p[]; for k in 0..n { s += A[p.start + 2 * k] }; p[] = p.start + 2 * max(n, 0)``

    ``site``: the variable; ``loop``: where it grows.
    """

    name: ClassVar[str] = "induction"
    site: str
    loop: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Variables that qualify, innermost loops first."""
        names = site_names(module)
        allocated = {s.sym: s for s in walk(module.body) if isinstance(s, Alloc)}
        return tuple(
            cls(names[sym], names[loop.sym])
            for loop in reversed([s for s in walk(module.body) if isinstance(s, For) and s.axis is None])
            for sym in sorted(written_buffers(loop.body), key=lambda s: s.uid)
            if sym in allocated and not isinstance(_plan(loop, allocated[sym]), str)
        )

    # The loop changes x exactly once an iteration, on every path: x = x + c, with c fixed during the loop. So x is x0 + c * t before the
    # change in iteration t (counted from 0) and x0 + c * (t + 1) after it; after the loop it is x0 + c * (number of iterations). x is not
    # allocated in the loop. As in C, x does not overflow.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = self._find(module)
        return Illegal(found, self.site) if isinstance(found, str) else Legal()

    def _find(self, module: Module) -> tuple[For, Alloc, _Plan] | str:
        loop_sym, sym = sites(module).get(self.loop), sites(module).get(self.site)
        loop = next((s for s in walk(module.body) if isinstance(s, For) and s.sym == loop_sym), None)
        home = next((s for s in walk(module.body) if isinstance(s, Alloc) and s.sym == sym), None)
        if loop is None or home is None:
            return f"there is no loop '{self.loop}' with a private variable '{self.site}'"
        plan = _plan(loop, home)
        return plan if isinstance(plan, str) else (loop, home, plan)

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._find(module)
        if isinstance(found, str):
            raise IllegalPassError(f"induction {self.site}: {found}")
        return dataclasses.replace(module, body=replace_stmt(module.body, found[0], _rewritten(*found)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The statement of the loop's body that changes the variable, and by how much."""

    change: int
    step: Expr


def _plan(loop: For, home: Alloc) -> _Plan | str:
    x = home.sym
    if home.shape or not isinstance(home.dtype, DType) or home.dtype not in (DType.I32, DType.I64):
        return f"'{x.name}' is not a private integer"
    if int_value(loop.step) is None:
        return "the loop's step is no literal"
    if loop.axis is not None or any(isinstance(s, Alloc) and s.sym == x for s in walk(loop.body)):
        return f"'{x.name}' lives within an iteration"
    if _may_leave(loop.body):
        return "the loop is left or continued early"
    changes = [i for i, s in enumerate(loop.body) if x in written_buffers((s,))]
    if len(changes) != 1:
        return f"'{x.name}' changes more than once, or not always"
    stmt = loop.body[changes[0]]
    lets = {s.sym: s.value for s in loop.body[: changes[0]] if isinstance(s, Let)}
    if not isinstance(stmt, Store) or stmt.mask is not None:
        return f"'{x.name}' changes more than once, or not always"
    step = _difference(stmt.value, x, lets)
    if step is None:
        return f"'{x.name}' does not grow by a fixed amount"
    bound, written = set(bound_symbols((loop,))), written_buffers(loop.body)
    if any((isinstance(e, Var) and e.sym in bound) or (isinstance(e, Load) and e.buf in written) for e in walk_expr(step)):
        return f"'{x.name}' does not grow by a fixed amount"
    return _Plan(changes[0], step)


def _difference(value: Expr, x: Sym, lets: dict[Sym, Expr]) -> Expr | None:
    """``c`` where ``value`` is ``x + c`` or ``c + x``."""
    if not isinstance(value, Binary) or value.op not in ("add", "sub"):
        return None
    if _is_x(value.a, x, lets):
        return value.b if value.op == "add" else Binary("sub", const(0, value.type), value.b)  # type: ignore[arg-type]
    return value.a if value.op == "add" and _is_x(value.b, x, lets) else None


def _is_x(e: Expr, x: Sym, lets: dict[Sym, Expr]) -> bool:
    while isinstance(e, Var) and e.sym in lets:
        e = lets[e.sym]
    return isinstance(e, Load) and e.buf == x


def _may_leave(body: Body, depth: int = 0) -> bool:
    for s in body:
        if isinstance(s, Return) or (isinstance(s, Break | Continue) and depth == 0):
            return True
        if isinstance(s, If | For | While) and any(_may_leave(b, depth + (not isinstance(s, If))) for b in bodies(s)):
            return True
        if isinstance(s, Call) and not s.op.startswith("host."):
            return True
    return False


def _rewritten(loop: For, home: Alloc, plan: _Plan) -> Body:
    dtype = home.dtype if isinstance(home.dtype, DType) else DType.I64
    start = Let(home.sym.fresh(f"{home.sym.name}.start"), Load(home.sym, (), dtype))
    t = Binary("sub", Var(loop.sym, loop.dtype), loop.lo)
    iterations: Expr = Var(loop.sym, loop.dtype) if int_value(loop.lo) == 0 else t
    if int_value(loop.step) != 1:
        iterations = Binary("div", iterations, loop.step)

    def after(count: Expr) -> Expr:
        growth = Binary("mul", cast(count, DType.I64), cast(plan.step, DType.I64))
        return cast(Binary("add", cast(Var(start.sym, dtype), DType.I64), growth), dtype)

    def read(stmts: Body, value: Expr) -> Body:
        return rewrite_exprs(stmts, lambda e: value if isinstance(e, Load) and e.buf == home.sym else e)

    one = const(1, loop.dtype)
    before = read(loop.body[: plan.change], after(iterations))
    behind = read(loop.body[plan.change + 1 :], after(Binary("add", iterations, one)))
    span = Binary("sub", cast(loop.hi, DType.I64), cast(loop.lo, DType.I64))
    size = int_value(loop.step) or 1
    whole: Expr = span
    if size != 1:
        whole = Binary("div", Binary("add", span, const(size - 1, DType.I64)), const(size, DType.I64))
    last: Stmt = Store(home.sym, (), after(Binary("max", whole, const(0, DType.I64))), None, loop.loc)
    return (start, dataclasses.replace(loop, body=(*before, *behind)), last)
