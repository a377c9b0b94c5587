"""``loop_reorder``: two nested loops change places."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import can_interchange
from synth.errors import IllegalPassError
from synth.ir.grammar import For, Module
from synth.ir.traversal import find_loop, loops, replace_stmt
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class LoopReorder:
    """Interchanges a perfect nest of two loops.

    Before: ``for i { for k { C[i] = C[i] + A[i, k] } }``    After: ``for k { for i { C[i] = C[i] + A[i, k] } }``
    """

    name: ClassVar[str] = "loop_reorder"
    outer: str
    inner: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Perfect nests of serial loops."""
        sites = {id(loop): site for site, loop in loops(module).items()}
        return tuple(
            cls(site, sites[id(loop.body[0])])
            for site, loop in loops(module).items()
            if loop.axis is None and len(loop.body) == 1 and isinstance(loop.body[0], For) and loop.body[0].axis is None
        )

    # The iterations of the outer loop are independent (accumulations apart, which reorder over the reals): then no dependence has a direction
    # (<, >) that the interchange could reverse; and the inner bounds do not depend on the outer loop.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        outer, inner = find_loop(module, self.outer), find_loop(module, self.inner)
        if outer is None or inner is None:
            return Illegal(f"there is no loop '{self.inner if outer else self.outer}'", self.outer)
        if outer.axis is not None or inner.axis is not None:
            return Illegal("a loop is bound to an axis", self.outer)
        proof = can_interchange(module, outer, inner)
        if not proof:
            return Illegal(proof.reason, self.outer)
        return Legal(("reals",)) if proof.reductions else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        outer, inner = find_loop(module, self.outer), find_loop(module, self.inner)
        if outer is None or inner is None:
            raise IllegalPassError(f"loop_reorder: there is no nest '{self.outer}', '{self.inner}'")
        new = dataclasses.replace(inner, body=(dataclasses.replace(outer, body=inner.body),))
        return dataclasses.replace(module, body=replace_stmt(module.body, outer, new))
