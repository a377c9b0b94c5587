"""``loop_expansion``: a buffer private to the iterations of a loop becomes an array over the loop."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.builder import int_value
from synth.ir.dtypes import Vec
from synth.ir.grammar import Alloc, Body, Call, Expr, For, Load, Module, Region, Stmt, Store, Sym, Var
from synth.ir.traversal import find_alloc, find_loop, loops, replace_stmt, rewrite_exprs, rewrite_stmts, site_names, walk
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

MAX_ELEMENTS = 1 << 16


@dataclass(frozen=True, slots=True)
class LoopExpansion:
    """Gives every iteration its own element, so that the loop can be distributed.

    Before: ``for i in 0..16 { alloc x[]; x[] = A[i]; C[i] = x[] }``
    After:  ``alloc x[16]; for i in 0..16 { x[i] = A[i]; C[i] = x[i] }``
    """

    name: ClassVar[str] = "loop_expansion"
    buf: str
    loop: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Private buffers directly in a loop with a literal count."""
        names = site_names(module)
        return tuple(
            cls(names[s.sym], site)
            for site, loop in loops(module).items()
            for s in loop.body
            if isinstance(s, Alloc) and not _why_not(loop, s)
        )

    # Iterations have distinct values of the loop variable, so each has an element of its own, as before.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop, buffer = find_loop(module, self.loop), find_alloc(module, self.buf)
        if loop is None or buffer is None or not any(s is buffer for s in loop.body):
            return Illegal(f"there is no buffer '{self.buf}' directly in a loop '{self.loop}'", self.buf)
        reason = _why_not(loop, buffer)
        return Illegal(reason, self.buf) if reason else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop, buffer = find_loop(module, self.loop), find_alloc(module, self.buf)
        if loop is None or buffer is None:
            raise IllegalPassError(f"loop_expansion: there is no '{self.buf}' in '{self.loop}'")
        larger = dataclasses.replace(buffer, shape=(loop.hi, *buffer.shape))
        body = tuple(s for s in loop.body if s is not buffer)
        new = dataclasses.replace(loop, body=_expanded(body, buffer.sym, Var(loop.sym, loop.dtype)))
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, (larger, new)))


def _why_not(loop: For, buffer: Alloc) -> str:
    count = int_value(loop.hi)
    if loop.axis is not None or count is None or int_value(loop.lo) is None or (int_value(loop.lo) or 0) < 0:
        return "the loop has no literal bounds, or is bound to an axis"
    if isinstance(buffer.dtype, Vec) or buffer.init is not None:
        return "a vector register or a table is not expanded"
    if any(isinstance(r, Region) and r.buf == buffer.sym for s in walk(loop.body) if isinstance(s, Call) for r in (*s.dests, *s.args)):
        return "a call takes a region of it"
    total = count
    for extent in buffer.shape:
        total *= int_value(extent) or MAX_ELEMENTS + 1
    return "the array would be too large" if total > MAX_ELEMENTS else ""


def _expanded(body: Body, buf: Sym, index: Expr) -> Body:
    def expr(e: Expr) -> Expr:
        return dataclasses.replace(e, index=(index, *e.index)) if isinstance(e, Load) and e.buf == buf else e

    def stmt(s: Stmt) -> Stmt:
        return dataclasses.replace(s, index=(index, *s.index)) if isinstance(s, Store) and s.buf == buf else s

    return rewrite_stmts(rewrite_exprs(body, expr), stmt)
