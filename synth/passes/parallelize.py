"""``parallelize``: iterations of a loop on all cores."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.errors import IllegalPassError
from synth.ir.grammar import Axis, For, Module, Stmt
from synth.ir.traversal import bodies, find_loop, loops, path_to, replace_stmt
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Parallelize:
    """Binds a loop to the cores (OpenMP); perfectly nested ones that are bound too are collapsed when printed.

    Before: ``for bx in 0..64 { ... }``    After: ``for.omp bx in 0..64 { ... }``
    """

    name: ClassVar[str] = "parallelize"
    site: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Serial loops that are outermost, or alone in loops that are bound already."""
        return tuple(cls(site) for site, loop in loops(module).items() if loop.axis is None and _is_place(module, loop))

    # Different iterations touch no common element that one of them writes. Accumulation into shared scalars is refused here: it would need
    # a reduction whose order differs from run to run.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None:
            return Illegal(f"there is no loop '{self.site}'", self.site)
        if loop.axis is not None:
            return Illegal(f"loop '{self.site}' is bound to {loop.axis.value} already", self.site)
        if not _is_place(module, loop):
            return Illegal(f"loop '{self.site}' lies in a serial loop or beside other statements of a parallel one", self.site)
        proof = independent_iterations(module, loop)
        if not proof:
            return Illegal(proof.reason, self.site)
        if proof.reductions:
            return Illegal(f"iterations accumulate into '{proof.reductions[0][0].name}'", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None:
            raise IllegalPassError(f"parallelize: there is no loop '{self.site}'")
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, dataclasses.replace(loop, axis=Axis.OMP)))


def _is_place(module: Module, loop: For) -> bool:
    path: tuple[Stmt, ...] = (path_to(module.body, loop) or ())[:-1]
    enclosing = [s for s in path if isinstance(s, For)]
    if not enclosing:
        return True
    perfect = all(len(bodies(s)[0]) == 1 for s in enclosing)
    return len(enclosing) == len(path) and perfect and all(s.axis is Axis.OMP for s in enclosing)
