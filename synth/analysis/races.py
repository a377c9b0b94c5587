"""Races in launches, by two threads: can two different threads touch one element of a shared or global buffer between the same barriers,
one of them writing?

Threads that differ in one axis are two iterations of that axis' loop, so the question is the one of ``synth.analysis.pairs``: outer axes
equal, this one different, inner ones free. Within a block only accesses of one interval between barriers can meet
(``synth.analysis.intervals``), and there the threads are in the same iterations of the loops around the barriers. Between blocks no barrier
helps: all accesses of a launch meet. A barrier of a warp orders the lanes of that warp only, so for what it separates only threads of
different warps matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from synth.analysis.access import Access, accesses
from synth.analysis.intervals import MANY, Layout, Step, intervals
from synth.analysis.linear import Env, env_at
from synth.analysis.mutable import scalar_values, tracked_scalars
from synth.analysis.pairs import NOTHING, SOLVER_MS, Common, disjoint
from synth.analysis.uniformity import block_uniformity, warp_uniformity
from synth.ir.atomics import is_atomic
from synth.ir.builder import int_value
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Axis, Binary, Cast, Const, Expr, For, Launch, Let, Module, Scope, Space, Stmt, Store, Sym, Sync, Var
from synth.ir.traversal import walk

MAX_FAILURES = 12  # pairs of a launch that the solver did not prove, after which it is not asked any more: it fails at its slowest


@dataclass(frozen=True, slots=True)
class RaceReport:
    """``proved`` pairs of accesses cannot meet; ``unknown`` could not be excluded; ``same_value`` may meet but write one and the same
    literal; ``divergent`` are barriers that perhaps not all threads reach. All in words, with places."""

    proved: int = 0
    unknown: tuple[str, ...] = field(default_factory=tuple)
    same_value: tuple[str, ...] = field(default_factory=tuple)
    divergent: tuple[str, ...] = field(default_factory=tuple)


def check_races(module: Module) -> RaceReport:
    """Races and divergent barriers of all launches of a module."""
    proved = 0
    found: dict[str, list[str]] = {"unknown": [], "same_value": [], "divergent": []}
    for launch in (s for s in walk(module.body) if isinstance(s, Launch)):
        for verdict, words in _Launch.of(module, launch, module.warp_size).verdicts():
            if verdict == "proved":
                proved += 1
            elif words not in found[verdict]:
                found[verdict].append(words)
    return RaceReport(proved, tuple(found["unknown"]), tuple(found["same_value"]), tuple(found["divergent"]))


@dataclass(slots=True)
class _Launch:
    """One launch under examination."""

    module: Module
    launch: Launch
    varying: frozenset[Sym]
    divergent: tuple[Stmt, ...]
    layout: Layout
    warps: Layout | None  # intervals between barriers of blocks or warps, where warps have barriers that their lanes all reach
    values: Mapping[Sym, tuple[int, ...]]
    scalars: frozenset[Sym]
    warp_size: int
    _failures: int = 0

    @classmethod
    def of(cls, module: Module, launch: Launch, warp_size: int) -> _Launch:
        if not any(isinstance(s, Sync) for s in walk(launch.body)):
            return cls(module, launch, frozenset(), (), intervals(launch), None, {}, frozenset(), warp_size)
        uniformity = block_uniformity(module, launch)
        scalars = tracked_scalars(launch.body) - uniformity.varying
        warps = None
        if any(isinstance(s, Sync) and s.scope is Scope.WARP for s in walk(launch.body)):
            lanes = warp_uniformity(module, launch, warp_size)
            if not any(isinstance(s, Sync) for s in lanes.divergent):
                warps = intervals(launch, frozenset({Scope.BLOCK, Scope.WARP}))
        values = scalar_values(launch.body, scalars)
        return cls(module, launch, uniformity.varying, uniformity.divergent, intervals(launch), warps, values, scalars, warp_size)

    def verdicts(self) -> Iterator[tuple[str, str]]:
        for barrier in self.divergent:
            place = f" at {barrier.loc}" if barrier.loc else ""
            yield "divergent", f"the barrier{place} in kernel '{self.launch.kernel}' may not be reached by all threads of a block"
        private = {s.sym for s in walk(self.launch.body) if isinstance(s, Alloc) and s.space is Space.LOCAL}
        shared = {s.sym for s in walk(self.launch.body) if isinstance(s, Alloc) and s.space is Space.SHARED}
        for loop in (s for s in walk(self.launch.body) if isinstance(s, For) and s.axis is not None):
            if (int_value(loop.hi) or 2) <= 1:
                continue
            env = env_at(self.module, loop, tracking=True).with_loop(loop)
            between_blocks = loop.axis is not None and loop.axis.is_block
            found = [a for a in accesses(loop.body, env) if a.buf not in private and not (between_blocks and a.buf in shared)]
            written = {a.buf for a in found if a.is_write}
            found = [a for a in found if a.buf in written]
            pairs = _all_pairs(found) if between_blocks or not self.layout.complete else self._meeting(found)
            yield from self._judged(loop, env, pairs)

    def _judged(self, loop: For, env: Env, pairs: Iterator[tuple[Access, Access, Common]]) -> Iterator[tuple[str, str]]:
        seen: set[tuple[object, ...]] = set()
        for a, b, common in pairs:
            key = (id(a), id(b), common.syms, frozenset(common.scalars), id(common.successor))
            if key in seen:
                continue
            seen.add(key)
            if _is_atomic_target(a) and _is_atomic_target(b):  # one follows the other
                yield "proved", ""
                continue
            patience = SOLVER_MS if self._failures < MAX_FAILURES else 0
            if disjoint(loop, env, a, b, common, timeout_ms=patience) or self._ordered_by_warps(loop, env, a, b, common, patience):
                yield "proved", ""
                continue
            self._failures += 1
            if _same_literal(a, b):
                yield "same_value", _words(loop, a, b)
            else:
                yield "unknown", _words(loop, a, b)

    # ------------------------------------------------------------------------------------------------------ intervals

    def _meeting(self, found: list[Access]) -> Iterator[tuple[Access, Access, Common]]:
        """Pairs that some interval has both of, with what the threads then have in common."""
        by_step: dict[int, list[Access]] = {}
        for a in found:
            by_step.setdefault(self.layout.steps[id(a.stmt)], []).append(a)
        for interval in self.layout.intervals:
            steps = sorted((s for s in interval.steps if s.key in by_step), key=lambda s: (s.key, s.crossing, repr(s.versions)))
            for position, first in enumerate(steps):
                for second in steps[position:]:
                    common, swapped = self._common(first, second)
                    x, y = (second, first) if swapped else (first, second)
                    for a in by_step[x.key]:
                        for b in by_step[y.key]:
                            if _conflicting(a, b) and (x is not y or id(a) <= id(b)):
                                yield a, b, common

    def _common(self, first: Step, second: Step) -> tuple[Common, bool]:
        """What two threads at two steps of an interval have in common; whether the first is an iteration later."""
        syms: set[Sym] = set()
        inside: list[For] = []
        successor, swapped = None, False
        one, two = dict(first.crossing), dict(second.crossing)
        together = 0
        for loop, other in zip(self.layout.frame[first.key], self.layout.frame[second.key], strict=False):
            x, y = one.get(id(loop), 0), two.get(id(loop), 0)
            if loop is not other or MANY in (x, y) or x != y:
                if loop is other and {x, y} == {0, 1} and isinstance(loop, For):
                    successor, swapped = loop, x > y
                break
            together += 1
            if isinstance(loop, For):
                inside.append(loop)
        syms |= {loop.sym for loop in inside if loop.sym not in self.varying}
        around = self.layout.frame[first.key][:together]
        for let in (s for s in walk(self.launch.body) if isinstance(s, Let) and s.sym not in self.varying):
            if self.layout.steps.get(id(let)) == id(let) and self.layout.frame[id(let)] == around[: len(self.layout.frame[id(let)])]:
                syms.add(let.sym)
        scalars = {s: self.values.get(s, ()) for s in self.scalars if self._same_value(s, first, second)}
        return Common(frozenset(syms), scalars, successor), swapped

    def _same_value(self, scalar: Sym, first: Step, second: Step) -> bool:
        """Whether a uniform variable has had its last assignment at one and the same place of the path before both steps."""
        if scalar in self.layout.changes[first.key] or scalar in self.layout.changes[second.key]:
            return False
        x, y = dict(first.versions).get(scalar), dict(second.versions).get(scalar)
        return x == y and (x is None or all(count < MANY for _, count in x[1]))

    # ---------------------------------------------------------------------------------------------------------- warps

    def _ordered_by_warps(self, loop: For, env: Env, a: Access, b: Access, common: Common, patience: int) -> bool:
        """Whether a barrier of each warp lies between two accesses, and lanes of different warps do not meet."""
        if self.warps is None or not self.warps.complete or loop.axis is not Axis.THREAD_X:
            return False
        keys = {self.warps.steps[id(a.stmt)], self.warps.steps[id(b.stmt)]}
        if a is b or any(keys <= {s.key for s in interval.steps} for interval in self.warps.intervals):
            return False
        extents = {s.axis: int_value(s.hi) for s in walk(self.launch.body) if isinstance(s, For) and s.axis is not None}
        if extents.get(Axis.THREAD_Y) != 1 or extents.get(Axis.THREAD_Z) != 1:
            return False
        return disjoint(loop, env, a, b, common, differ=_warp_number(loop, self.warp_size), timeout_ms=patience)


def _warp_number(loop: For, warp_size: int) -> Expr:
    v: Expr = Var(loop.sym, loop.dtype)
    return Binary("div", Cast(v, DType.I64), Const(warp_size, DType.I64))


def _is_atomic_target(access: Access) -> bool:
    return access.region is not None and is_atomic(access.stmt)


def _all_pairs(found: list[Access]) -> Iterator[tuple[Access, Access, Common]]:
    for index, a in enumerate(found):
        for b in found[index:]:
            if _conflicting(a, b):
                yield a, b, NOTHING


def _conflicting(a: Access, b: Access) -> bool:
    return a.buf == b.buf and (a.is_write or b.is_write)


def _same_literal(a: Access, b: Access) -> bool:
    x, y = a.stmt, b.stmt
    return isinstance(x, Store) and isinstance(y, Store) and isinstance(x.value, Const) and x.value == y.value and a.is_write and b.is_write


def _words(loop: For, a: Access, b: Access) -> str:
    axis = loop.axis.value if loop.axis else "?"
    places = " and ".join(dict.fromkeys(str(x.stmt.loc) for x in (a, b) if x.stmt.loc))
    return f"threads that differ in {axis} may race on '{a.buf.name}'" + (f" ({places})" if places else "")
