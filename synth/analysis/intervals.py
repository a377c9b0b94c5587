"""What may happen between the same two barriers of a block.

A *step* is the part of a kernel that runs without barriers in between: a simple statement, or a whole compound one that contains none. An
*interval* is what all threads of a block may do from one barrier (or the start) to the next: a path through the control flow around the
barriers, which all threads take together, since barriers stand where control is uniform (checked elsewhere). So two steps can race
only if some interval has both; and in an interval the threads are in known iterations of the loops that contain barriers, and at the same
assignments of uniform variables made along the path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from synth.ir.builder import int_value
from synth.ir.grammar import Body, Break, Continue, For, If, Launch, Scope, Stmt, Store, Sym, Sync, While
from synth.ir.traversal import bodies, walk, written_buffers

MAX_OPEN = 64
MANY = 2  # back edges taken since the interval began: 0, 1, or an unknown number

Crossing = tuple[tuple[int, int], ...]  # loops (by identity) and how often their back edge was taken
Versions = tuple[tuple[Sym, tuple[int, Crossing]], ...]  # variables and the assignment (by identity) in the interval that gave their value


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an interval: the identity of its statement, in which iterations it happens, and which assignments went before."""

    key: int
    crossing: Crossing
    versions: Versions


@dataclass(frozen=True, slots=True)
class Interval:
    """Steps between two barriers, and the state at its open end."""

    steps: frozenset[Step] = frozenset()
    crossing: Crossing = ()
    versions: Versions = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """``intervals`` of a kernel; ``steps`` gives the step of every statement by identity; ``frame`` the loops with barriers around every
    step, outermost first; ``changes`` the variables that a step with parts changes within itself. ``complete`` is false when there were
    too many
    intervals: then any two statements may meet."""

    intervals: tuple[Interval, ...]
    steps: dict[int, int]
    frame: dict[int, tuple[For | While, ...]]
    changes: dict[int, frozenset[Sym]]
    complete: bool = True


class _TooMany(Exception):
    pass


def intervals(launch: Launch, scopes: frozenset[Scope] = frozenset({Scope.BLOCK})) -> Layout:
    """The intervals of a kernel between barriers of some scopes."""
    walker = _Walker(scopes)
    try:
        flow = walker.body(launch.body, {Interval()}, ())
        walker.closed |= flow.normal
        return Layout(tuple(walker.closed), walker.steps, walker.frame, walker.changes)
    except _TooMany:
        return Layout((), walker.steps, walker.frame, walker.changes, complete=False)


@dataclass(slots=True)
class _Flow:
    """The intervals that are open where control leaves a body, by the way it leaves."""

    normal: set[Interval]
    breaks: set[Interval] = field(default_factory=set)
    continues: set[Interval] = field(default_factory=set)


@dataclass(slots=True)
class _Walker:
    scopes: frozenset[Scope]
    closed: set[Interval] = field(default_factory=set)
    steps: dict[int, int] = field(default_factory=dict)
    frame: dict[int, tuple[For | While, ...]] = field(default_factory=dict)
    changes: dict[int, frozenset[Sym]] = field(default_factory=dict)

    def body(self, body: Body, opened: set[Interval], frame: tuple[For | While, ...]) -> _Flow:
        flow = _Flow(opened)
        for stmt in body:
            if isinstance(stmt, Sync) and stmt.scope in self.scopes:
                self.closed |= flow.normal
                flow.normal = {Interval()}
                continue
            if not self._has_barrier(stmt):
                self._step(stmt, flow, frame)
            elif isinstance(stmt, For | While):
                flow.normal = self._loop(stmt, flow.normal, frame)
            else:
                self._branch(stmt, flow, frame)
            if len(flow.normal) > MAX_OPEN or len(self.closed) > 4 * MAX_OPEN:
                raise _TooMany
        return flow

    def _has_barrier(self, stmt: Stmt) -> bool:
        return any(isinstance(s, Sync) and s.scope in self.scopes for s in walk((stmt,)))

    def _step(self, stmt: Stmt, flow: _Flow, frame: tuple[For | While, ...]) -> None:
        for part in walk((stmt,)):
            self.steps[id(part)] = id(stmt)
        written = written_buffers((stmt,))
        self.frame[id(stmt)] = frame
        self.changes[id(stmt)] = frozenset() if isinstance(stmt, Store) else frozenset(written)
        flow.normal = {_assigned(_with(o, id(stmt)), written, id(stmt)) for o in flow.normal}
        leaving = _leaving(stmt)
        if Break in leaving:
            flow.breaks |= flow.normal
        if Continue in leaving:
            flow.continues |= flow.normal
        if isinstance(stmt, Break | Continue):
            flow.normal = set()

    def _header(self, stmt: Stmt, opened: Iterable[Interval], frame: tuple[For | While, ...]) -> set[Interval]:
        """What a compound statement evaluates itself."""
        self.steps[id(stmt)] = id(stmt)
        self.frame[id(stmt)] = frame
        self.changes[id(stmt)] = frozenset()
        return {_with(o, id(stmt)) for o in opened}

    def _branch(self, stmt: Stmt, flow: _Flow, frame: tuple[For | While, ...]) -> None:
        start = self._header(stmt, flow.normal, frame)
        flows = [self.body(b, set(start), frame) for b in bodies(stmt)]
        flow.normal = set().union(*(f.normal for f in flows))
        if isinstance(stmt, If):
            flow.breaks |= set().union(*(f.breaks for f in flows))
            flow.continues |= set().union(*(f.continues for f in flows))

    def _loop(self, loop: For | While, opened: set[Interval], frame: tuple[For | While, ...]) -> set[Interval]:
        if isinstance(loop, For) and loop.axis is not None:
            return self.body(loop.body, self._header(loop, opened, frame), frame).normal
        inner = (*frame, loop)
        pending = self._header(loop, opened, frame)
        left, seen = set() if _runs(loop) else set(pending), set(pending)
        while pending:
            flow = self.body(loop.body, pending, inner)
            again = flow.normal | flow.continues
            if isinstance(loop, While):
                again = self._header(loop, again, frame)
            left |= again | flow.breaks
            pending = {_around(o, id(loop)) for o in again} - seen
            seen |= pending
            if len(seen) > MAX_OPEN:
                raise _TooMany
        return {_outside(o, id(loop)) for o in left}


def _runs(loop: For | While) -> bool:
    """Whether a loop surely has an iteration."""
    if isinstance(loop, While):
        return False
    lo, hi = int_value(loop.lo), int_value(loop.hi)
    return lo is not None and hi is not None and lo < hi


def _with(o: Interval, key: int) -> Interval:
    return Interval(o.steps | {Step(key, o.crossing, o.versions)}, o.crossing, o.versions)


def _assigned(o: Interval, written: set[Sym], key: int) -> Interval:
    if not written:
        return o
    kept = tuple(v for v in o.versions if v[0] not in written)
    new = tuple((buf, (key, o.crossing)) for buf in sorted(written, key=lambda s: s.uid))
    return Interval(o.steps, o.crossing, tuple(sorted((*kept, *new), key=lambda v: v[0].uid)))


def _around(o: Interval, loop: int) -> Interval:
    """After the back edge of a loop."""
    taken = dict(o.crossing)
    taken[loop] = min(taken.get(loop, 0) + 1, MANY)
    return Interval(o.steps, tuple(sorted(taken.items())), o.versions)


def _outside(o: Interval, loop: int) -> Interval:
    """After a loop: should the path come back to it, that is another run of it."""
    return Interval(o.steps, tuple(x for x in o.crossing if x[0] != loop), o.versions)


def _leaving(stmt: Stmt) -> set[type]:
    """Which of ``Break`` and ``Continue`` in a statement belong to a loop around it."""
    if isinstance(stmt, Break | Continue):
        return {type(stmt)}
    if isinstance(stmt, For | While):
        return set()
    return set().union(*(_leaving(s) for b in bodies(stmt) for s in b))
