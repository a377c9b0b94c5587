"""``parallelize``: iterations of a loop on all cores."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.errors import IllegalPassError
from synth.ir.grammar import Axis, For, Let, Load, Module, Stmt, Var
from synth.ir.traversal import find_loop, loops, path_to, replace_stmt, walk_expr
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
        bound = dataclasses.replace(loop, axis=Axis.OMP)
        parent = next((s for s in reversed((path_to(module.body, loop) or ())[:-1]) if isinstance(s, For)), None)
        if parent is None or len(parent.body) == 1:
            return dataclasses.replace(module, body=replace_stmt(module.body, loop, bound))
        # Definitions between two bound loops go into the inner one: then the two can be collapsed.
        sunk = dataclasses.replace(bound, body=(*parent.body[:-1], *bound.body))
        return dataclasses.replace(module, body=replace_stmt(module.body, parent, dataclasses.replace(parent, body=(sunk,))))


def _is_place(module: Module, loop: For) -> bool:
    """Not inside a serial loop; inside a bound one only as its last statement, after definitions that may be evaluated again."""
    path: tuple[Stmt, ...] = (path_to(module.body, loop) or ())[:-1]
    enclosing = [s for s in path if isinstance(s, For)]
    if not enclosing:
        return True
    if len(enclosing) != len(path) or any(s.axis is not Axis.OMP for s in enclosing):
        return False
    chain = [*enclosing[1:], loop]
    return all(parent.body[-1] is child and _sinks(parent.body[:-1], child) for parent, child in zip(enclosing, chain, strict=True))


def _sinks(between: tuple[Stmt, ...], loop: For) -> bool:
    defined = {s.sym for s in between if isinstance(s, Let)}
    if any(not isinstance(s, Let) or any(isinstance(e, Load) for e in walk_expr(s.value)) for s in between):
        return False
    return not any(isinstance(e, Var) and e.sym in defined for x in (loop.lo, loop.hi, loop.step) for e in walk_expr(x))
