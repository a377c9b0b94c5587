"""Can two accesses touch one element in two different iterations of a loop (two threads being two iterations of their axis)?

The two iterations are two instances of everything bound in the loop, under the guards of both. A pair is shown apart by, in this order: a
stride that dominates the rest of the difference, splitting a linearised index at a symbolic extent, and Z3 over both instances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product as combinations

from synth.analysis.access import Access
from synth.analysis.env import Env
from synth.analysis.polynomial import Atom, Poly, atom_key, atom_poly, const_poly
from synth.analysis.ranges import Range
from synth.analysis.solver import contradictory
from synth.ir.dtypes import DType
from synth.ir.grammar import Const, Expr, For, Load, Sym, Var
from synth.ir.traversal import rewrite_expr, walk_expr

MAX_DEPTH = 3  # splits of splits of an index
SOLVER_MS = 1000
MAX_CASES = 64  # combinations of values of shared scalars that are tried one by one


@dataclass(frozen=True, slots=True)
class Common:
    """What two iterations have in common beyond what is bound outside the loop. ``syms``: values bound within it that are equal;
    ``scalars``: mutable scalars whose present values are equal, with all values they may have where these are few, else none;
    ``successor``: the second instance is one iteration of this inner loop later."""

    syms: frozenset[Sym] = frozenset()
    scalars: Mapping[Sym, tuple[int, ...]] = field(default_factory=dict)
    successor: For | None = None


NOTHING = Common()


Order = tuple[tuple[For, int], ...]


@dataclass(frozen=True, slots=True)
class _Query:
    """What is asked about two accesses; see ``disjoint``."""

    loop: For
    env: Env
    shared: frozenset[Sym]
    successor: For | None
    differ: Expr | None
    order: Order
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class _Instance:
    """One of the two iterations: its own copies of everything bound in the loop. ``at`` maps a loop variable to its value."""

    index: tuple[Poly, ...]
    facts: tuple[Poly, ...]
    ranges: Mapping[Sym, Range]
    me: Poly  # the number of the iteration
    at: Mapping[Sym, Poly]
    apart: tuple[Poly, ...]
    lane: Var  # which of its contiguous elements
    active: Poly | None  # how many elements it touches, None for one

    def touched(self) -> tuple[Poly, ...]:
        """The index of the element that is touched."""
        if self.active is None:
            return self.index
        return (*self.index[:-1], self.index[-1] + atom_poly(self.lane))


# a and b in iterations i != i' of the loop: no element e with e in a(i) and e in b(i'), for all values of what is bound outside the loop
# and of what is bound within it, subject to the guards of both accesses and to what the iterations have in common.
def disjoint(
    loop: For,
    env: Env,
    a: Access,
    b: Access,
    common: Common = NOTHING,
    differ: Expr | None = None,
    order: Order = (),
    timeout_ms: int = SOLVER_MS,
) -> bool:
    """Whether two accesses in the body of a loop never touch one element in different iterations. ``env`` holds inside the loop. With
    ``differ``, only iterations matter in which that expression over the loop variable has different values; with ``order``, pairs
    (loop, sign), only those in which that loop's variable is higher (or lower) at ``b`` than at ``a``. With ``timeout_ms`` 0 the solver is
    not asked."""
    if any(x.region is not None and x.region.extent for x in (a, b)) or len(a.index) != len(b.index):
        return False
    few = {s: v for s, v in common.scalars.items() if v and (_mentions(a, s) or _mentions(b, s))}
    if math.prod(len(v) for v in few.values()) > MAX_CASES:
        few = {}
    free = frozenset(s for s in common.scalars if s not in few)
    query = _Query(loop, env, common.syms | free, common.successor, differ, order, timeout_ms)
    return all(_apart(query, a, b, dict(zip(few, case, strict=True))) for case in combinations(*few.values()))


def _mentions(access: Access, buf: Sym) -> bool:
    exprs: list[Expr] = [*access.index, *(atom for f in (*access.env.facts, *access.env.current) for atom in f.atoms())]
    return any(isinstance(e, Load) and e.buf == buf for x in exprs for e in walk_expr(x))


def _apart(query: _Query, a: Access, b: Access, case: Mapping[Sym, int]) -> bool:
    env = query.env
    first, second = _instance(query, a, "'", case), _instance(query, b, "''", case)
    both = Env(
        ranges={**env.ranges, **first.ranges, **second.ranges},
        facts=(*env.facts, *first.facts, *second.facts),
        written=env.written,
        scalars=env.scalars,
    )
    step = const_poly(1)
    for access, one in ((a, first), (b, second)):
        if one.active is not None:
            both = both.with_range(one.lane.sym, Range(0, access.count - 1))
            both = both.with_nonnegative(one.active - atom_poly(one.lane) - step)
    pairs = list(zip(first.touched(), second.touched(), strict=True))
    distance = first.me - second.me
    if any(_never_equal(both, x, y, distance) for x, y in pairs):
        return True
    if not query.timeout_ms:
        return False
    zero = [x - y for x, y in pairs]
    successor = query.successor
    if successor is not None and successor.sym in first.at and successor.sym in second.at:
        zero.append(first.at[successor.sym] + env.normal(successor.step) - second.at[successor.sym])
    ordered = tuple((second.at[x.sym] - first.at[x.sym]).scaled(sign) - step for x, sign in query.order)
    different = [distance, *(x - y for x, y in zip(first.apart, second.apart, strict=True))]
    cases = [()] if query.order else combinations(*((p - step, -p - step) for p in different))
    return all(bool(contradictory(both, (*ordered, *signs), tuple(zero), timeout_ms=query.timeout_ms)) for signs in cases)


def _never_equal(env: Env, x: Poly, y: Poly, apart: Poly, depth: int = MAX_DEPTH) -> bool:
    """Whether ``x != y`` for different iterations: a multiple of their distance dominates the rest, or parts of a linearised index
    differ."""
    difference = x - y
    factor = _multiple(difference, apart)
    if factor:
        rest = env.bounds(difference - apart.scaled(factor))
        if rest.lo is not None and rest.hi is not None and max(-rest.lo, rest.hi) < abs(factor):
            return True
    known = env.bounds(difference)
    if known.at_least(1) or known.at_most(-1):
        return True
    return depth > 0 and any(
        _never_equal(env, q1, q2, apart, depth - 1) or _never_equal(env, r1, r2, apart, depth - 1)
        for (q1, r1), (q2, r2) in _splits(env, x, y)
    )


def _multiple(difference: Poly, apart: Poly) -> int:
    """``c`` such that the distance of the iterations occurs in ``difference`` with coefficient ``c``, else 0."""
    (m1, s1), (m2, s2) = list(apart.terms.items())[:2] if len(apart.terms) >= 2 else [((), 0), ((), 0)]
    c1, c2 = difference.terms.get(m1, 0), difference.terms.get(m2, 0)
    return c1 * s1 if c1 * s1 == c2 * s2 and m1 and m2 else 0


def _splits(env: Env, x: Poly, y: Poly) -> Iterator[tuple[tuple[Poly, Poly], tuple[Poly, Poly]]]:
    """Ways to read both indexes as ``N * q + r`` with ``0 <= r < N``, N a multiple of a symbol: then they are equal only if both parts
    are."""
    symbols = {atom for m in x.terms for atom in m if len(m) > 1} | {m[0] for m in x.terms if len(m) == 1 and (m[0], m[0]) in x.terms}
    for n in sorted(symbols & y.atoms(), key=atom_key):
        if any(m.count(n) > 1 for poly in (x, y) for m in poly.terms):
            continue
        (q1, r1), (q2, r2) = [(poly.coefficient(n), poly.without(n)) for poly in (x, y)]
        unit = math.gcd(*q1.terms.values(), *q2.terms.values())
        if unit == 0:
            continue
        extent = atom_poly(n).scaled(unit)
        if all(env.never_negative(r) and env.never_negative(extent - r - const_poly(1)) for r in (r1, r2)):
            parts = [Poly({m: c // unit for m, c in q.terms.items()}) for q in (q1, q2)]
            yield (parts[0], r1), (parts[1], r2)


def _instance(query: _Query, access: Access, mark: str, case: Mapping[Sym, int]) -> _Instance:
    """The access in an iteration of its own: everything bound in the loop renamed, loop variables with steps counted in steps."""
    loop, env, shared = query.loop, query.env, query.shared
    names: dict[Sym, Var] = {}
    opaque: dict[Atom, Poly] = {}
    here = access.env
    outside = {x.sym for x in env.loops} - {loop.sym}
    inner_loops = {s.sym: s for s in here.loops if s.sym not in outside}
    bound = (set(inner_loops) | (set(here.lets) - set(env.lets))) - shared

    def renamed(atom: Atom) -> Atom:
        def one(e: Expr) -> Expr:
            if isinstance(e, Var) and e.sym in bound:
                return names.setdefault(e.sym, Var(Sym(e.sym.name + mark), e.type))
            return e

        return rewrite_expr(atom, one)

    def chosen(e: Expr) -> Expr:
        if isinstance(e, Load) and e.buf in case and isinstance(e.type, DType):
            return Const(case[e.buf], e.type)
        return e

    def decided(atom: Atom) -> Poly | None:
        new = rewrite_expr(atom, chosen) if case else atom
        return here.normal(new) if new is not atom else None

    def counted(v: Var, inner: For) -> Poly | None:
        """``lo + step * k`` for a loop variable, where its step is not one and neither bound may change meanwhile."""
        lo, step = here.normal(inner.lo), here.normal(inner.step)
        if step.constant == 1 or here.unstable_buffers(lo) or here.unstable_buffers(step):
            return None
        renamed(v)
        return lo.substitute(replace) + atom_poly(_steps(names[v.sym])) * step.substitute(replace)

    def replace(atom: Atom) -> Poly | None:
        changing = here.unstable_buffers(atom_poly(atom))
        if not changing <= shared:
            # A value loaded from what the module writes: it may differ from one moment to the next.
            return opaque.setdefault(atom, atom_poly(Var(Sym("loaded" + mark), _integer_type(atom))))
        if isinstance(atom, Var) and atom.sym in bound and atom.sym in inner_loops:
            steps = counted(atom, inner_loops[atom.sym])
            if steps is not None:
                return steps
        return atom_poly(renamed(atom))

    def moved(poly: Poly) -> Poly:
        return poly.substitute(decided).substitute(replace)

    index = tuple(moved(here.normal(i)) for i in access.index)
    facts = tuple(moved(f) for f in (*here.facts[len(env.facts) :], *here.current))
    facts += tuple(moved(f) for f in env.facts if any(isinstance(e, Var) and e.sym == loop.sym for x in f.atoms() for e in walk_expr(x)))
    at = {sym: moved(atom_poly(Var(sym, inner.dtype))) for sym, inner in inner_loops.items()}
    me = at[loop.sym]
    if loop.sym in names and _is_counted(me, names[loop.sym]):
        me = atom_poly(_steps(names[loop.sym]))
    apart = () if query.differ is None else (moved(env.normal(query.differ)),)
    ranges: dict[Sym, Range] = {}
    for sym, new in names.items():
        known = here.ranges.get(sym)
        if known is not None:
            ranges[new.sym] = known
        if sym in inner_loops:
            ranges[_steps(new).sym] = _trips(here, inner_loops[sym])
    active = None if access.count == 1 else const_poly(access.count) if access.active is None else moved(here.normal(access.active))
    return _Instance(index, facts, ranges, me, at, apart, Var(Sym("lane" + mark), DType.I64), active)


def _integer_type(atom: Atom) -> DType:
    return atom.type if isinstance(atom.type, DType) and not atom.type.is_float else DType.I64


def _is_counted(value: Poly, v: Var) -> bool:
    steps = _steps(v)
    return any(steps in monomial for monomial in value.terms)


def _steps(v: Var) -> Var:
    """The number of steps taken by a loop variable, as a symbol derived from the variable's own."""
    return Var(Sym(v.sym.name + ".steps", -v.sym.uid), DType.I64)


def _trips(env: Env, loop: For) -> Range:
    lo, hi, step = env.range_of(loop.lo).lo, env.range_of(loop.hi).hi, env.range_of(loop.step).lo
    return Range(0, None if lo is None or hi is None else max(0, (hi - 1 - lo) // max(step or 1, 1)))
