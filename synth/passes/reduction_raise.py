"""``reduction_raise``: any code that folds cells of memory by one operator, however it goes about it, becomes one loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Const, For, If, Launch, Let, Module, Stmt, Store, Sym, While
from synth.ir.traversal import bodies, read_buffers, site_names, used_values, walk, with_bodies, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.cell_liveness import Place, live_after
from synth.passes.concrete import Cell, Fold, Machine, NotConcrete, Unknown, Value, initial, static_cost
from synth.passes.reduction_emit import Results, emit, new_stores
from synth.spec import DeviceSpec

_BUDGET = 60_000
_MAX_REGION = 16
_MIN_FOLD = 2
_MAX_GROWTH = 1.25  # a tree of n cells does n - 1 steps, its loop n


@dataclass(frozen=True, slots=True)
class Raised:
    """A region ``body[start:end]`` of the body of ``owner`` (None: the module's), what it computes, and its replacement."""

    owner: Stmt | None
    body: Body
    start: int
    end: int
    results: dict[Cell, Value]
    replacement: Body


@dataclass(frozen=True, slots=True)
class _Context:
    module: Module
    types: dict[Sym, DType]
    params: frozenset[Sym]


def _context(module: Module) -> _Context:
    types = {s.sym: s.dtype for s in walk(module.body) if isinstance(s, Alloc) and isinstance(s.dtype, DType)}
    types |= {p.sym: p.dtype for p in module.params}
    return _Context(module, types, frozenset(p.sym for p in module.params))


# space, check and apply of one step ask about the same module: the last answer is kept
_last: list[tuple[Module, tuple[Raised, ...]]] = []


def find(module: Module) -> tuple[Raised, ...]:
    """The regions that fold cells and can be written as loops, innermost first."""
    if not _last or _last[0][0] is not module:
        _last[:] = [(module, tuple(_search(_context(module), module.body, (), None)))]
    return _last[0][1]


def _search(ctx: _Context, body: Body, outer: tuple[Place, ...], owner: Stmt | None) -> Iterator[Raised]:
    """Inner bodies first: what they become may complete a larger region."""
    for i, stmt in enumerate(body):
        if isinstance(stmt, Launch):
            continue
        for inner in bodies(stmt):
            yield from _search(ctx, inner, (*outer, Place(body, i + 1, stmt)), stmt)
    start = 0
    while start < len(body) and _carries(body[start:]):
        end = _executable(body, start)
        if end > start:
            raised = _best(ctx, body, start, min(end, start + _MAX_REGION), outer, owner)
            if raised is not None:
                yield raised
                start = raised.end
                continue
        start = max(end, start + 1)


def _carries(body: Body) -> bool:
    """Whether some buffer is both written and read here, other than scalars that live within one iteration of a loop: else nothing is
    folded
    beyond what the bodies of the loops fold themselves."""
    inside = {s.sym for stmt in body for inner in bodies(stmt) for s in walk(inner) if isinstance(s, Alloc) and not s.shape}
    return bool((written_buffers(body) & read_buffers(body)) - inside)


def known_scalars(body: Body, end: int) -> dict[Cell, Value]:
    """Mutable scalars whose values at ``body[end]`` are numbers, as the statements before it say."""
    known: dict[Cell, Value] = {}
    for stmt in body[:end]:
        for sym in written_buffers((stmt,)):
            known.pop((sym, ()), None)
        if isinstance(stmt, Store) and not stmt.index and isinstance(stmt.value, Const):
            known[stmt.buf, ()] = stmt.value.value
    return known


def _executable(body: Body, start: int) -> int:
    """The end of the longest run from ``start`` whose control is concrete and whose stored values are known."""
    machine = Machine(_BUDGET, cells=known_scalars(body, start))
    for end in range(start, len(body)):
        if static_cost(body[end]) > _BUDGET:
            return end
        try:
            machine.run(body[end : end + 1])
        except NotConcrete:
            return end
    return len(body)


def _best(ctx: _Context, body: Body, first: int, last: int, outer: tuple[Place, ...], owner: Stmt | None) -> Raised | None:
    """The longest region within the run that can be raised; earlier starts first."""
    for start in range(first, last):
        if _loop_count(body[start:last]) < 2 or not _carries(body[start:last]):
            return None
        machine = Machine(_BUDGET, cells=known_scalars(body, start))
        before = dict(machine.cells)
        states: list[tuple[int, dict[Cell, Value], int]] = []
        for end in range(start + 1, last + 1):
            try:
                machine.run(body[end - 1 : end])
            except NotConcrete:
                break
            if isinstance(body[end - 1], For | While | If) and _loop_count(body[start:end]) > 1:
                states.append((end, dict(machine.cells), machine.stores))
        for end, cells, stores in reversed(states):
            machine.cells, machine.stores = cells, stores
            raised = _raise(_Region(body, start, end, before, machine), ctx, outer, owner)
            if raised is not None:
                return raised
    return None


def _loop_count(body: Body) -> int:
    """Loops in the text (a while, which is never written here, counts twice): a raise must remove some, so that raising ends."""
    return sum(2 if isinstance(s, While) else 1 for s in walk(body) if isinstance(s, For | While))


@dataclass(frozen=True, slots=True)
class _Region:
    """``body[start:end]``, the scalars known before it, and the state after it."""

    body: Body
    start: int
    end: int
    before: dict[Cell, Value]
    machine: Machine

    def changed(self) -> dict[Cell, Value]:
        return {c: v for c, v in self.machine.cells.items() if v != self.before.get(c, initial(c))}


# Region R = body[start:end], executed symbolically: control, and every index, evaluated to numbers, so R does the same at each execution,
# and each cell's final value is known as op over a multiset of initial values and constants. Over the reals, op is associative and
# commutative (max and min are idempotent besides), so R may be replaced by code that
#   * gives each cell that may be read after R (before it is surely overwritten) the same fold: required of each changed live cell;
#   * reads only cells as they were before R: the replacement computes its folds before it stores, or stores only what no later fold reads;
#   * declares what the rest of the body uses: regions whose Lets are used later are refused, Allocs stay.
# Cells of buffers that R allocates have no initial value; a fold that reads one is refused.
def _raise(work: _Region, ctx: _Context, outer: tuple[Place, ...], owner: Stmt | None) -> Raised | None:
    region, rest = work.body[work.start : work.end], work.body[work.end :]
    changed = work.changed()
    if not any(isinstance(v, Fold) and v.op and len(v.cells) >= _MIN_FOLD for v in changed.values()):
        return None
    if used_values(rest) & {s.sym for s in region if isinstance(s, Let)}:
        return None
    local = {s.sym for s in region if isinstance(s, Alloc)}
    ended = {s.sym for s in walk(region) if isinstance(s, Alloc)} - local
    changed = {cell: v for cell, v in changed.items() if cell[0] not in ended}
    results = _live_results(ctx, changed, work.machine, (*outer, Place(work.body, work.end)))
    if results is None:
        return None
    folds = [v for v in results.values() if isinstance(v, Fold)]
    if not any(v.op and len(v.cells) >= _MIN_FOLD for v in folds):
        return None
    if any(not v.op or any(cell[0] in local for cell in v.cells) for v in folds):
        return None
    code = emit(Results(results, ctx.types))
    if code is None or _loop_count(code) >= _loop_count(region) or new_stores(code) > _MAX_GROWTH * work.machine.stores + 4:
        return None
    kept = read_buffers(rest) | written_buffers(rest) | written_buffers(code) | read_buffers(code)
    allocs = tuple(s for s in region if isinstance(s, Alloc) and s.sym in kept)
    return Raised(owner, work.body, work.start, work.end, results, (*allocs, *code))


def _live_results(ctx: _Context, changed: dict[Cell, Value], machine: Machine, places: tuple[Place, ...]) -> dict[Cell, Value] | None:
    """The changed cells that may be read later; None when one of them is no fold."""
    results: dict[Cell, Value] = {}
    for buffer in sorted({c[0] for c in changed}, key=lambda s: s.uid):
        live = live_after(buffer, places, machine, buffer in ctx.params)
        found = {c: v for c, v in changed.items() if c[0] == buffer and live.live(c)}
        if any(isinstance(v, Unknown) for v in found.values()):
            return None
        results |= found
    return results


def _replace_body(body: Body, old: Body, new: Body) -> Body:
    """Replaces one body, found by identity."""
    if body is old:
        return new
    return tuple(with_bodies(s, tuple(_replace_body(inner, old, new) for inner in bodies(s))) for s in body)


def _names(module: Module, raised: Raised) -> set[str]:
    names = site_names(module)
    return {names[cell[0]] for cell, value in raised.results.items() if isinstance(value, Fold)}


@dataclass(frozen=True, slots=True)
class ReductionRaise:
    """The first region that leaves a fold in the buffer ``site`` becomes one loop per fold.

    Before::

        s = 64;  while (s > 0) { for tx<128 { if (tx < s) a[tx] = a[tx] + a[tx + s]; }  s = s >> 1; }   // then only a[0] is read

    After::

        a.add = 0;  for t<128 { a.add = a.add + a[t]; }  a[0] = a.add;

    Tree reductions, shuffle reductions after ``loop_recovery``, and combinations of them are found by executing them symbolically; no
    spelling is looked for. Coupled folds (argmax, online softmax) are refused.
    """

    name: ClassVar[str] = "reduction_raise"
    site: str = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        found: dict[str, None] = {}
        for raised in find(module):
            found.update(dict.fromkeys(sorted(_names(module, raised))[:1]))
        return tuple(cls(site) for site in found)

    def _find(self, module: Module) -> Raised | None:
        return next((r for r in find(module) if self.site in _names(module, r)), None)

    # The formal statement stands above _raise.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        if self._find(module) is None:
            return Illegal("no region with concrete control leaves in this buffer a fold by one operator", self.site)
        return Legal(("reals",))

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        raised = self._find(module)
        assert raised is not None
        new = (*raised.body[: raised.start], *raised.replacement, *raised.body[raised.end :])
        return dataclasses.replace(module, body=_replace_body(module.body, raised.body, new))
