"""``block_bind``: a block of threads runs an iteration together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.analysis.limits import bytes_of
from synth.analysis.linear import env_at
from synth.errors import IllegalPassError, UnsupportedError
from synth.ir.builder import const, int_value
from synth.ir.grammar import Alloc, Body, Call, Continue, For, Launch, Module, Return, Scope, Space, Sym, Sync
from synth.ir.traversal import bodies, find_loop, path_to, replace_stmt, site_names, walk, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.crew import Crew, Shared
from synth.passes.fold import folds_of
from synth.passes.launch_plan import LETTERS, captured, kernel_name, planned, threads_problem, with_values
from synth.passes.launch_shape import U32, AxisPlan, bound_nest
from synth.passes.nest import PLAIN, candidates, chain_of, dependent, nested, not_a_thread
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class BlockBind:
    """Makes a launch of a loop. The loops ``outer``, of which ``site`` is the outermost, are spread over blocks; where there are none, one
    block runs the loop ``site``. The loops ``inner`` in it are shared out among the ``threads`` of a block; all else every thread does.

    Before: ``for i in 0..n { alloc s[]; s[] = 0; for k in 0..64 { s[] = s[] + A[i, k] }; for j in 0..64 { C[i, j] = A[i, j] / s[] } }``
    After (``site=i, outer=(i), inner=(k; j), threads=32``)::

        launch { for.block.x i in 0..n { alloc parts[32] shared; for.thread.x tx in 0..32 {
          alloc s[]; s[] = 0; alloc s.part[]; s.part[] = 0
          for k in tx..64 step 32 { s.part[] = s.part[] + A[i, k] }
          parts[tx] = s.part[]; sync; if (tx < 16) { parts[tx] = parts[tx] + parts[tx + 16] }; sync; ...; s[] = s[] + parts[0]
          for j in tx..64 step 32 { C[i, j] = A[i, j] / s[] } } } }
    """

    name: ClassVar[str] = "block_bind"
    site: str
    outer: tuple[str, ...]
    inner: tuple[str, ...]
    threads: int = 128

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Loops of the host that hold loops to be shared out, or are such themselves."""
        if spec.max_threads_per_block <= 1:
            return ()
        names = site_names(module)
        found: list[Self] = []
        for loop in candidates(module):
            site = names[loop.sym]
            chain = nested(loop)
            for depth in range(1, len(chain) + 1):
                inner = tuple(names[x.sym] for x in shareable(module, chain[depth - 1].body))
                outer = tuple(names[x.sym] for x in chain[:depth])
                if inner:
                    found.append(cls(site, outer, inner, 128))
            if _is_shareable(module, loop):
                found.append(cls(site, (), (site,), 256))
        return tuple(found)

    # Iterations of the outer loops need nothing of one another (see loop_bind). Those of a shared loop neither, but for accumulations,
    # which are folded over the block: exactly for integers, in another order for floats. The rest of the code computes the same in all
    # threads: it depends on the block and on memory only. A barrier lies between any two accesses of memory that two threads share of
    # which one is a write, and all threads reach it: only code that is the same in all threads decides about it. An array that the code
    # allocates is shared by the block, and fits its memory. Mutable scalars of the host are read before the launch; no thread writes them.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        try:
            found = self._plan(module, spec)
        except UnsupportedError as error:
            return Illegal(error.message, self.site)
        if isinstance(found, str):
            return Illegal(found, self.site)
        return Legal(("reals",)) if found[2] else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._plan(module, spec)
        if isinstance(found, str):
            raise IllegalPassError(f"block_bind {self.site}: {found}")
        return dataclasses.replace(module, body=replace_stmt(module.body, found[0], found[1]))

    def _plan(self, module: Module, spec: DeviceSpec) -> tuple[For, Body, bool] | str:
        """The loop, what takes its place, and whether numbers are rounded differently then; or why not."""
        target = find_loop(module, self.site)
        chosen = {site: find_loop(module, site) for site in (*self.outer, *self.inner)}
        missing = [site for site, x in chosen.items() if x is None]
        if target is None or missing:
            return f"there is no loop '{missing[0] if missing else self.site}'"
        problem = threads_problem((self.threads, 1, 1), spec) or ("" if self.threads & (self.threads - 1) == 0 else "no power of two")
        if problem:
            return problem
        chain = chain_of(module, {x.sym for s in self.outer if (x := chosen[s]) is not None}) if self.outer else ()
        if isinstance(chain, str):
            return chain
        if chain and chain[0] is not target:
            return f"'{self.site}' is not the outermost of the loops that are spread over blocks"
        reason = (not_a_thread(module, chain) or dependent(module, chain)) if chain else _not_a_block(module, target)
        if reason:
            return reason
        shared = self._shared(module, chain[-1].body if chain else (target,), [x for s in self.inner if (x := chosen[s]) is not None])
        if isinstance(shared, str):
            return shared
        rounded = any(not f.exact for how in shared.values() for f in how.folds) and self.threads > 1
        body = self._launched(module, spec, target, chain, Crew(AxisPlan("x", 1, (), 1).thread, self.threads, shared))
        return body if isinstance(body, str) else (target, body, rounded)

    def _shared(self, module: Module, body: Body, inner: list[For]) -> dict[Sym, Shared] | str:
        own = {s.sym for s in walk(body) if isinstance(s, Alloc)}
        scalars = {s.sym for s in walk(module.body) if isinstance(s, Alloc) and not s.shape}
        found: dict[Sym, Shared] = {}
        for x in inner:
            if not any(s is x for s in walk(body)) or any(s is x for y in inner if y is not x for s in walk(y.body)):
                return f"loop '{x.sym.name}' does not lie in what a block runs, or lies in another loop that is shared out"
            if x.axis not in PLAIN or (int_value(x.step) or 0) < 1:
                return f"loop '{x.sym.name}' is bound, or its step is not a literal"
            proof = independent_iterations(module, x)
            folds = folds_of(x, proof.reductions) if proof else proof.reason
            if isinstance(folds, str):
                return folds
            env, reach = env_at(module, x), 2 * (int_value(x.step) or 1) * self.threads
            ends = [env.range_of(bound).hi for bound in (x.lo, x.hi)]
            found[x.sym] = Shared(folds, all(end is not None and end <= x.dtype.max_int - reach for end in ends))
        for sym in written_buffers(body) & (scalars - own):
            return f"a launch would write the mutable scalar '{sym.name}' of the host; spill it first"
        return found

    def _launched(self, module: Module, spec: DeviceSpec, target: For, chain: tuple[For, ...], crew: Crew) -> Body | str:
        if chain:
            plan = planned(module, spec, chain, (chain, (), ()), (1, 1, 1))
            if isinstance(plan, str):
                return plan
            crew.thread = plan.axes[0].thread
            kernel = crew.body(chain[-1].body)
            if plan.axes[0].strided:
                if any(isinstance(s, Continue) for s in walk(chain[-1].body)):
                    return "an iteration that ends early, in a grid that goes on in strides"
                kernel = (*kernel, Sync(Scope.BLOCK)) if self.threads > 1 else kernel
            return _too_much(crew, spec) or plan.launched(module, lambda _: kernel, tuple(crew.arrays), self.threads)
        outside = captured(module, target)
        if isinstance(outside, str):
            return outside
        env = env_at(module, target)
        axes = tuple(AxisPlan.of(letter, 1, (), limit, env) for letter, limit in zip(LETTERS, spec.max_grid, strict=True))
        crew.thread = axes[0].thread
        kernel = with_values(crew.body((target,)), outside[1])
        nest = bound_nest(axes, (const(1, U32),) * 3, kernel, tuple(crew.arrays), self.threads)
        return _too_much(crew, spec) or (*outside[0], Launch(kernel_name(module), nest, target.loc))


def _too_much(crew: Crew, spec: DeviceSpec) -> str:
    for s in crew.arrays:
        if any(int_value(extent) is None for extent in s.shape):
            return f"'{s.sym.name}' has no literal size, which memory that a block shares must have"
    size = sum(bytes_of(s) for s in crew.arrays)
    return f"{size} bytes of shared memory; {spec.name} allows {spec.shared_bytes}" if size > spec.shared_bytes else ""


def _not_a_block(module: Module, target: For) -> str:
    around = (path_to(module.body, target) or ())[:-1]
    if any(isinstance(s, Launch) or (isinstance(s, For) and s.axis is not None) for s in around):
        return f"loop '{target.sym.name}' lies in a launch or in a loop that runs in parallel"
    for s in walk((target,)):
        if isinstance(s, Call | Launch | Return | Sync):
            return f"the loop has a {type(s).__name__.lower()} in it"
        if isinstance(s, Alloc) and s.space not in (Space.LOCAL, Space.HOST):
            return f"'{s.sym.name}' is in memory of the device"
        if isinstance(s, Alloc) and any(int_value(extent) is None for extent in s.shape):
            return f"'{s.sym.name}' has no literal size"
    return ""


def shareable(module: Module, body: Body) -> tuple[For, ...]:
    """Outermost loops in a body whose iterations need nothing of one another but accumulations."""
    return tuple(_shareable(module, body))


def _shareable(module: Module, body: Body) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For) and _is_shareable(module, stmt):
            yield stmt
            continue
        for inner in bodies(stmt):
            yield from _shareable(module, inner)


def _is_shareable(module: Module, loop: For) -> bool:
    if loop.axis not in PLAIN or (int_value(loop.step) or 0) < 1:
        return False
    proof = independent_iterations(module, loop)
    return bool(proof) and not isinstance(folds_of(loop, proof.reductions), str)
