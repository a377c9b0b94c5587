"""``loop_distribute``: the body of a loop is spread over two loops."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.errors import IllegalPassError
from synth.ir.grammar import Alloc, Let, Load, Module
from synth.ir.traversal import find_loop, loops, refresh, replace_stmt, walk_expr
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.loop_split import continues
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class LoopDistribute:
    """Cuts a body after ``cut`` statements; definitions before the cut are repeated in the second loop.

    Before: ``for i { A(i); B(i) }``    After: ``for i { A(i) } for i' { B(i') }``
    """

    name: ClassVar[str] = "loop_distribute"
    site: str
    cut: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Between any two statements of a serial loop that are no definitions."""
        return tuple(
            cls(site, cut)
            for site, loop in loops(module).items()
            if loop.axis is None
            for cut in range(1, len(loop.body))
            if not isinstance(loop.body[cut - 1], Let | Alloc) and any(not isinstance(s, Let) for s in loop.body[cut:])
        )

    # Different iterations are independent, so no B(i) feeds an A(j), j > i; nothing private to an iteration crosses the cut but pure
    # definitions, and these load from no memory.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None or not 0 < self.cut < len(loop.body):
            return Illegal(f"there is no loop '{self.site}' with more than {self.cut} statements", self.site)
        if loop.axis is not None:
            return Illegal(f"loop '{self.site}' is bound to an axis", self.site)
        if continues(loop.body):
            return Illegal("a continue before the cut would skip nothing after it", self.site)
        if any(isinstance(s, Alloc) for s in loop.body[: self.cut]):
            return Illegal("a private buffer would cross the cut", self.site)
        lets = [s for s in loop.body[: self.cut] if isinstance(s, Let)]
        if any(isinstance(e, Load) for s in lets for e in walk_expr(s.value)):
            return Illegal("a loaded value would cross the cut", self.site)
        proof = independent_iterations(module, loop)
        if not proof or proof.reductions:
            return Illegal(proof.reason or "the iterations accumulate", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None:
            raise IllegalPassError(f"loop_distribute: there is no loop '{self.site}'")
        lets = tuple(s for s in loop.body[: self.cut] if isinstance(s, Let))
        first = dataclasses.replace(loop, body=loop.body[: self.cut])
        second = refresh((dataclasses.replace(loop, body=(*lets, *loop.body[self.cut :])),))
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, (first, *second)))
