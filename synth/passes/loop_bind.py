"""``loop_bind``: a nest of loops becomes a kernel launch, its iterations the threads."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.grammar import (
    Module,
)
from synth.ir.traversal import (
    find_loop,
    replace_stmt,
    site_names,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.launch_plan import LaunchPlan, planned, threads_problem
from synth.passes.nest import candidates, chain_of, dependent, next_loop, not_a_thread
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class LoopBind:
    """Makes a launch of a nest of independent loops. Each of ``x``, ``y`` and ``z`` names the loops, outermost first, that are collapsed to
    that dimension of the grid, of which a block takes ``threads_x`` (``_y``, ``_z``) iterations. What stands between the loops is done by
    every thread.

    Before: ``for i in 0..n { let r = A[i]; for j in 0..m { C[i * m + j] = r } }``
    After (``x=(j), y=(i), threads_x=32, threads_y=8``)::

        launch { for.block.z .. { for.block.y by in 0..(n + 7) / 8 { for.block.x bx in 0..(m + 31) / 32 {
          for.thread.z .. { for.thread.y ty in 0..8 { for.thread.x tx in 0..32 {
            let i = by * 8 + ty; let j = bx * 32 + tx; if (i < n) { if (j < m) { let r = A[i]; C[i * m + j] = r } } } } } } } }

    where ``n`` and ``m`` are positive, else nothing is launched.
    """

    name: ClassVar[str] = "loop_bind"
    x: tuple[str, ...]
    y: tuple[str, ...] = ()
    z: tuple[str, ...] = ()
    threads_x: int = 256
    threads_y: int = 1
    threads_z: int = 1

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Nests of one and two loops, with blocks of a few shapes."""
        if spec.max_threads_per_block <= 1:
            return ()
        names = site_names(module)
        found: list[Self] = []
        for outer in candidates(module):
            site = names[outer.sym]
            found += [cls((site,), threads_x=size) for size in (spec.warp_size, 128, 256) if size <= spec.max_threads_per_block]
            inner = next_loop(outer.body)
            if inner is not None:
                child = names[inner[1].sym]
                found.append(cls((child,), (site,), threads_x=spec.warp_size, threads_y=max(1, 256 // spec.warp_size)))
                found.append(cls((site, child), threads_x=256))
        return tuple(found)

    # The loops are nested in one another, each the last statement of the one around it but for conditions; between them stand definitions
    # whose values no iteration changes. For each of them, different iterations (of one and the same iteration of those around it) touch no
    # common element that one of them writes, and none is left early: so no two threads do, and what a thread computes it computes as in
    # the loops, whatever the order. Every iteration is that of exactly one thread, for numbers of iterations that the host knows before the
    # launch; of an inner loop that may depend on outer ones an upper bound is taken, and the thread asks whether its iteration exists.
    # Nothing wraps: iterations are counted in u32 where that is wide enough, else in i64, which no program's counts exceed in its time.
    # Mutable scalars of the host have values when they are read before the launch; no thread writes them.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = self._plan(module, spec)
        return Illegal(found, self._first_site()) if isinstance(found, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._plan(module, spec)
        if isinstance(found, str):
            raise IllegalPassError(f"loop_bind {self._first_site()}: {found}")
        return dataclasses.replace(module, body=replace_stmt(module.body, found.chain[0], found.launched(module)))

    def _first_site(self) -> str:
        return next(iter((*self.z, *self.y, *self.x)), "")

    def _plan(self, module: Module, spec: DeviceSpec) -> LaunchPlan | str:
        sites = (*self.x, *self.y, *self.z)
        threads = (self.threads_x, self.threads_y, self.threads_z)
        problem = threads_problem(threads, spec)
        if problem or not self.x:
            return problem or "no loop is bound to x"
        chosen = {site: find_loop(module, site) for site in sites}
        missing = [site for site, loop in chosen.items() if loop is None]
        if missing or len(chosen) != len(sites):
            return f"there is no loop '{missing[0]}'" if missing else "a loop is named twice"
        syms = {loop.sym for loop in chosen.values() if loop is not None}
        chain = chain_of(module, syms)
        if isinstance(chain, str):
            return chain
        reason = not_a_thread(module, chain) or dependent(module, chain)
        if reason:
            return reason
        return planned(module, spec, chain, tuple(tuple(chosen[s] for s in part) for part in (self.x, self.y, self.z)), threads)
