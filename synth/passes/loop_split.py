"""``loop_split``: one loop becomes two, for tiling."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.builder import const, int_value
from synth.ir.grammar import Binary, Break, For, If, Let, Module, Stmt, Var, While
from synth.ir.traversal import bodies, find_loop, loops, replace_stmt
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

FACTORS = (8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class LoopSplit:
    """Splits a loop by a factor; the inner loop of the last tile is shorter where the factor does not divide.

    Before: ``for i in 0..n { S(i) }``
    After:  ``for i.outer in 0..n step f { for i.inner in 0..min(f, n - i.outer) { let i = i.outer + i.inner; S(i) } }``
    """

    name: ClassVar[str] = "loop_split"
    site: str
    factor: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Serial loops longer than a factor."""
        found = []
        for site, loop in loops(module).items():
            if loop.axis is None and int_value(loop.step) == 1:
                trips = (int_value(loop.hi), int_value(loop.lo))
                count = trips[0] - trips[1] if trips[0] is not None and trips[1] is not None else None
                found += [cls(site, f) for f in FACTORS if count is None or count > f]
        return tuple(found)

    # The iterations of the two loops, in their order, are those of the one: i.outer + i.inner runs over lo..hi without gaps.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None:
            return Illegal(f"there is no loop '{self.site}'", self.site)
        if loop.axis is not None or int_value(loop.step) != 1:
            return Illegal(f"loop '{self.site}' is not a serial loop with step one", self.site)
        if self.factor < 2 or self.factor > loop.dtype.max_int:
            return Illegal(f"{self.factor} is no factor to split by", self.site)
        if breaks(loop.body):
            return Illegal(f"loop '{self.site}' is left by break", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None:
            raise IllegalPassError(f"loop_split: there is no loop '{self.site}'")
        outer, inner = loop.sym.fresh(f"{loop.sym.name}.outer"), loop.sym.fresh(f"{loop.sym.name}.inner")
        zero, one, width = (const(v, loop.dtype) for v in (0, 1, self.factor))
        start = Var(outer, loop.dtype)
        left = Binary("min", width, Binary("sub", loop.hi, start))
        index = Let(loop.sym, Binary("add", start, Var(inner, loop.dtype)))
        tile = For(inner, loop.dtype, zero, left, one, (index, *loop.body), None, loop.loc)
        new = For(outer, loop.dtype, loop.lo, loop.hi, width, (tile,), None, loop.loc)
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, new))


def breaks(body: tuple[Stmt, ...]) -> bool:
    """Whether a ``break`` in a body leaves the loop around it."""
    for stmt in body:
        if isinstance(stmt, Break):
            return True
        if isinstance(stmt, If) and any(breaks(b) for b in bodies(stmt)):
            return True
        if isinstance(stmt, For | While):
            continue
    return False
