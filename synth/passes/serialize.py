"""``serialize``: a loop over cores or lanes becomes an ordinary loop."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.grammar import Axis, Module
from synth.ir.traversal import find_loop, loops, replace_stmt
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Serialize:
    """Drops the binding of a loop to cores or lanes, for targets that have other axes.

    Before: ``for.omp i in 0..64 { ... }``    After: ``for i in 0..64 { ... }``
    """

    name: ClassVar[str] = "serialize"
    site: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Loops over cores or lanes."""
        return tuple(cls(site) for site, loop in loops(module).items() if loop.axis in (Axis.OMP, Axis.SIMD))

    # The iterations of such loops are independent and may run in any order, their own among them.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None or loop.axis not in (Axis.OMP, Axis.SIMD):
            return Illegal(f"there is no loop '{self.site}' over cores or lanes", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None:
            raise IllegalPassError(f"serialize: there is no loop '{self.site}'")
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, dataclasses.replace(loop, axis=None)))
