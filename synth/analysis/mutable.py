"""Private mutable integers (C's local variables that are assigned to): intervals and small sets of all values they ever hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from synth.analysis.ranges import Range, type_range
from synth.ir.dtypes import DType
from synth.ir.evaluation import meaning
from synth.ir.grammar import Alloc, Body, Call, Const, Expr, Let, Load, Space, Store, Sym, Var, While
from synth.ir.memory import InterpreterError
from synth.ir.traversal import bodies, rewrite_expr, walk, walk_expr
from synth.ir.values import UndefinedOperation

if TYPE_CHECKING:
    from synth.analysis.env import Env

EXACT_ROUNDS = 2
REFINING_ROUNDS = 2
MAX_ROUNDS = 12


def tracked_scalars(body: Body) -> frozenset[Sym]:
    """Private mutable integers: only their own thread writes them, by stores alone."""
    called = {d.buf for s in walk(body) if isinstance(s, Call) for d in s.dests}
    return frozenset(s.sym for s in _scalars(body) if s.sym not in called)


def _scalars(body: Body) -> Iterator[Alloc]:
    for s in walk(body):
        if isinstance(s, Alloc) and not s.shape and s.space is Space.LOCAL and isinstance(s.dtype, DType) and s.dtype.is_int:
            yield s


# Each round joins what every store leaves under the intervals of the round before: from nothing upwards, with bounds that go on growing set
# to those of the type, until nothing changes; that is an invariant. Further rounds start from an invariant and so stay above the least one.
def scalar_ranges(body: Body, env: Env) -> dict[Sym, Range]:
    """An interval for every tracked scalar; a read of an uninitialised one has no meaning. ``env`` holds before the body and tracks."""
    allocs = {s.sym: s for s in _scalars(body) if s.sym in env.tracked}
    types = {sym: type_range(s.dtype) for sym, s in allocs.items() if isinstance(s.dtype, DType)}
    needs = Needs(body, frozenset(allocs))
    known: dict[Sym, Range] = {}
    for round_ in range(MAX_ROUNDS):
        new = _stored(body, env, allocs, known, needs)
        if round_ >= EXACT_ROUNDS:
            new = {sym: _widened(known.get(sym), r, types[sym]) for sym, r in new.items()}
        if new == known:
            break
        known = new
    else:
        return types
    for _ in range(REFINING_ROUNDS):
        known = _stored(body, env, allocs, known, needs)
    return {sym: known.get(sym, types[sym]) for sym in allocs}


def _widened(old: Range | None, new: Range, whole: Range) -> Range:
    if old is None:
        return new
    grows_down = old.lo is not None and (new.lo is None or new.lo < old.lo)
    grows_up = old.hi is not None and (new.hi is None or new.hi > old.hi)
    return Range(whole.lo if grows_down else old.lo, whole.hi if grows_up else old.hi)


def _stored(body: Body, env: Env, allocs: Mapping[Sym, Alloc], known: Mapping[Sym, Range], needs: Needs) -> dict[Sym, Range]:
    """The join of the values of all stores, when loads give ``known``; a store that needs a scalar without
    a value yet waits for a later round."""
    found: dict[Sym, Range] = {}

    def join(sym: Sym, value: Range) -> None:
        found[sym] = found[sym].join(value) if sym in found else value

    for sym, alloc in allocs.items():
        for literal in alloc.init or ():
            join(sym, Range(int(literal.value), int(literal.value)))
    for store, at in _stores(body, env.extended(scalars=dict(known))):
        if store.buf in allocs and needs.of(store.value) <= known.keys():
            join(store.buf, at.range_of(store.value))
    return found


class Needs:
    """The scalars that the value of an expression depends on, definitions looked through."""

    def __init__(self, body: Body, scalars: frozenset[Sym]) -> None:
        self._scalars = scalars
        self._lets: dict[Sym, set[Sym]] = {}
        for s in walk(body):
            if isinstance(s, Let):
                self._lets[s.sym] = self.of(s.value)

    def of(self, expr: Expr) -> set[Sym]:
        found: set[Sym] = set()
        for e in walk_expr(expr):
            if isinstance(e, Load) and e.buf in self._scalars:
                found.add(e.buf)
            elif isinstance(e, Var):
                found |= self._lets.get(e.sym, set())
        return found


def _stores(body: Body, env: Env) -> Iterator[tuple[Store, Env]]:
    from synth.analysis.walking import following, step_into

    for stmt in body:
        if isinstance(stmt, Store) and not stmt.index:
            yield stmt, env
        for branch, inner in enumerate(bodies(stmt)):
            yield from _stores(inner, step_into(env, stmt, branch))
        env = following(env, stmt)


# ------------------------------------------------------------------------------------------------------ sets of values

MAX_VALUES = 32


# From the initial literals, every store is applied to every value found so far, until nothing is new. A store in a ``while`` that is the
# only one of its variable there finds the value that the condition was evaluated with.
def scalar_values(body: Body, scalars: frozenset[Sym]) -> dict[Sym, tuple[int, ...]]:
    """All values that some mutable scalars ever hold, where these are few and follow from literals and themselves: halved and doubled
    strides."""
    stores: dict[Sym, list[tuple[Store, Expr | None]]] = {s: [] for s in scalars}
    for store, cond in _guarded(body, None):
        if store.buf in stores:
            stores[store.buf].append((store, cond))
    found: dict[Sym, tuple[int, ...]] = {}
    for alloc in _scalars(body):
        if alloc.sym in stores:
            values = _closure(alloc, stores[alloc.sym])
            if values:
                found[alloc.sym] = tuple(sorted(values))
    return found


def _guarded(body: Body, cond: Expr | None) -> Iterator[tuple[Store, Expr | None]]:
    """Stores with the condition of the innermost loop around them, when they are its only one to their variable."""
    written = [s.buf for s in walk(body) if isinstance(s, Store)]
    for stmt in body:
        if isinstance(stmt, Store):
            yield stmt, cond if written.count(stmt.buf) == 1 else None
        elif isinstance(stmt, While):
            yield from _guarded(stmt.body, stmt.cond)
        else:
            for inner in bodies(stmt):
                yield from _guarded(inner, None)


def _closure(alloc: Alloc, stores: list[tuple[Store, Expr | None]]) -> set[int] | None:
    values = {int(c.value) for c in alloc.init or ()}
    pending: list[int | None] = [None, *values]
    while pending:
        v = pending.pop()
        for store, cond in stores:
            if (v is None) == _loads(store.value) or (v is not None and cond is not None and _value(cond, alloc.sym, v) is False):
                continue
            new = _value(store.value, alloc.sym, v)
            if not isinstance(new, int) or len(values) > MAX_VALUES:
                return None
            if new not in values:
                values.add(new)
                pending.append(new)
    return values


def _loads(expr: Expr) -> bool:
    return any(isinstance(e, Load) for e in walk_expr(expr))


def _value(expr: Expr, buf: Sym, value: int | None) -> int | bool | None:
    """The value of an expression whose only unknown is one variable; None where it has others or no value."""

    def one(e: Expr) -> Expr:
        if isinstance(e, Load) and e.buf == buf and value is not None and isinstance(e.type, DType):
            return Const(value, e.type)
        return e

    closed = rewrite_expr(expr, one)
    if any(isinstance(e, Var | Load) for e in walk_expr(closed)):
        return None
    try:
        result = meaning(closed)({})
    except (UndefinedOperation, InterpreterError):
        return None
    return result if isinstance(result, int) else None
