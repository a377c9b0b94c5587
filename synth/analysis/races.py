"""Races in launches, by two threads: can two different threads touch one element of a shared or global buffer between the same barriers,
one of them writing?

Intervals between barriers are numbered along the kernel; a loop with barriers joins the interval at its end to the one at its start.
Threads
that differ in one axis are two iterations of that axis' loop, so the question is the one of ``synth.analysis.dependence``: outer axes
equal,
this one different, inner ones free. Between blocks no barrier helps: all intervals of a launch meet there. Barriers of a warp order no
memory here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.analysis.access import Access, accesses
from synth.analysis.linear import Env, env_at
from synth.analysis.pairs import disjoint
from synth.ir.grammar import Alloc, Body, Const, For, If, Launch, Module, Scope, Space, Stmt, Store, Sym, Sync, While
from synth.ir.traversal import bodies, walk


@dataclass(frozen=True, slots=True)
class RaceReport:
    """``proved`` pairs of accesses cannot meet; ``unknown`` could not be excluded; ``same_value`` may meet but write one and the same
    literal."""

    proved: int = 0
    unknown: tuple[str, ...] = field(default_factory=tuple)
    same_value: tuple[str, ...] = field(default_factory=tuple)


def check_races(module: Module) -> RaceReport:
    """Races of all launches of a module."""
    proved = 0
    unknown: list[str] = []
    same: list[str] = []
    for launch in (s for s in walk(module.body) if isinstance(s, Launch)):
        for verdict, words in _launch(module, launch):
            if verdict == "proved":
                proved += 1
            elif words not in (known := unknown if verdict == "unknown" else same):
                known.append(words)
    return RaceReport(proved, tuple(unknown), tuple(same))


def _launch(module: Module, launch: Launch) -> Iterator[tuple[str, str]]:
    private = {s.sym for s in walk(launch.body) if isinstance(s, Alloc) and s.space is Space.LOCAL}
    shared = {s.sym for s in walk(launch.body) if isinstance(s, Alloc) and s.space is Space.SHARED}
    intervals = _Intervals()
    intervals.visit(launch.body, 0)
    for loop in (s for s in walk(launch.body) if isinstance(s, For) and s.axis is not None):
        if isinstance(loop.hi, Const) and int(loop.hi.value) <= 1:
            continue
        env = env_at(module, loop, tracking=True).with_loop(loop)
        between_blocks = loop.axis is not None and loop.axis.is_block
        found = [a for a in accesses(loop.body, env) if a.buf not in private and not (between_blocks and a.buf in shared)]
        yield from _pairs(loop, env, found, None if between_blocks else intervals)


def _pairs(loop: For, env: Env, found: list[Access], intervals: _Intervals | None) -> Iterator[tuple[str, str]]:
    by_buffer: dict[Sym, list[Access]] = {}
    for a in found:
        by_buffer.setdefault(a.buf, []).append(a)
    for touching in by_buffer.values():
        for index, a in enumerate(touching):
            for b in touching[index:]:
                if not (a.is_write or b.is_write) or (intervals is not None and not intervals.meet(a.stmt, b.stmt)):
                    continue
                if disjoint(loop, env, a, b):
                    yield "proved", ""
                elif _same_literal(a, b):
                    yield "same_value", _words(loop, a, b)
                else:
                    yield "unknown", _words(loop, a, b)


def _same_literal(a: Access, b: Access) -> bool:
    x, y = a.stmt, b.stmt
    return isinstance(x, Store) and isinstance(y, Store) and isinstance(x.value, Const) and x.value == y.value and a.is_write and b.is_write


def _words(loop: For, a: Access, b: Access) -> str:
    axis = loop.axis.value if loop.axis else "?"
    places = " and ".join(dict.fromkeys(str(x.stmt.loc) for x in (a, b) if x.stmt.loc))
    return f"threads that differ in {axis} may race on '{a.buf.name}'" + (f" ({places})" if places else "")


class _Intervals:
    """The interval between barriers of every statement, by identity, and which intervals meet through a loop."""

    def __init__(self) -> None:
        self._of: dict[int, int] = {}
        self._joined: set[tuple[int, int]] = set()

    def meet(self, a: Stmt, b: Stmt) -> bool:
        """Whether two statements may execute between the same barriers."""
        x, y = self._of.get(id(a), -1), self._of.get(id(b), -1)
        return x == y or x < 0 or y < 0 or (x, y) in self._joined or (y, x) in self._joined

    def visit(self, body: Body, interval: int) -> int:
        """Numbers a body from ``interval`` on; the interval at its end."""
        for stmt in body:
            self._of[id(stmt)] = interval
            if isinstance(stmt, Sync) and stmt.scope is Scope.BLOCK:
                interval += 1
            elif isinstance(stmt, For | While):
                last = self.visit(stmt.body, interval)
                serial = not (isinstance(stmt, For) and stmt.axis is not None)
                if last != interval and serial:
                    self._joined.add((interval, last))
                interval = last
            elif isinstance(stmt, If):
                interval = max(self.visit(b, interval) for b in bodies(stmt))
            else:
                for inner in bodies(stmt):
                    interval = self.visit(inner, interval)
        return interval
