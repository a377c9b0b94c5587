"""``simd``: leaves a loop's vectorisation to the compiler."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.errors import IllegalPassError
from synth.ir.dtypes import Vec
from synth.ir.grammar import Alloc, Axis, For, Module
from synth.ir.traversal import all_exprs, find_loop, loops, replace_stmt, walk
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Simd:
    """Marks an innermost loop for the compiler's vectoriser (``#pragma omp simd``), for bodies that ``vectorize`` refuses.

    Before: ``for i in 0..n { ... }``    After: ``for.simd i in 0..n { ... }``
    """

    name: ClassVar[str] = "simd"
    site: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Innermost serial loops."""
        return tuple(cls(site) for site, loop in loops(module).items() if loop.axis is None and _innermost(loop))

    # Different iterations touch no common element that one of them writes, but for private buffers of the body and scalars accumulated into
    # by one operator, which become a reduction clause (over the reals, for floats).
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None:
            return Illegal(f"there is no loop '{self.site}'", self.site)
        if loop.axis is not None or not _innermost(loop):
            return Illegal(f"loop '{self.site}' is not an innermost serial loop", self.site)
        proof = independent_iterations(module, loop)
        if not proof:
            return Illegal(proof.reason, self.site)
        scalars = {s.sym for s in walk(module.body) if isinstance(s, Alloc) and not s.shape}
        if any(buf not in scalars for buf, _ in proof.reductions):
            return Illegal("iterations accumulate into an array element", self.site)
        return Legal(("reals",)) if proof.reductions else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None:
            raise IllegalPassError(f"simd: there is no loop '{self.site}'")
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, dataclasses.replace(loop, axis=Axis.SIMD)))


def _innermost(loop: For) -> bool:
    return not any(isinstance(s, For) for s in walk(loop.body)) and not any(isinstance(e.type, Vec) for e in all_exprs(loop.body))
