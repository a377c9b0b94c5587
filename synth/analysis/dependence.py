"""Which iterations of a loop need each other.

Two iterations conflict when both touch one location and one of them writes it. A pair of accesses is shown free of conflicts between
different
iterations i != i' by, in this order: a stride that dominates the rest of the difference, splitting a linearised index at a symbolic or
literal
extent, and Z3 over the two instances with all guards as facts. What none of them shows counts as a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.analysis.access import Access, accesses
from synth.analysis.linear import Env, Range, env_at, private_buffers
from synth.analysis.polynomial import Atom, Poly, atom_poly, const_poly
from synth.analysis.solver import contradictory
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    Let,
    Load,
    Module,
    Return,
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.ir.traversal import rewrite_expr, walk, walk_expr, written_buffers

REDUCIBLE = frozenset({"add", "mul", "min", "max", "and", "or", "xor"})


@dataclass(frozen=True, slots=True)
class Independence:
    """Truthy when different iterations may run in any order and at once. ``reductions`` are the buffers (mutable scalars, or elements at
    an index
    that does not depend on the loop) that they only accumulate into by one operator: order matters there to rounding only."""

    holds: bool
    reductions: tuple[tuple[Sym, str], ...] = ()
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds


def independent_iterations(module: Module, loop: For) -> Independence:
    """Whether the iterations of ``loop`` are independent but for reductions. See the module docstring."""
    control = _leaves(loop.body)
    if control:
        return Independence(False, reason=control)
    if bounds_change(loop):
        return Independence(False, reason=f"the bounds of '{loop.sym.name}' are loaded from memory that its body writes")
    env = env_at(module, loop).with_loop(loop)
    private = private_buffers(loop.body)
    found = [a for a in accesses(loop.body, env) if a.buf not in private]
    written = {a.buf for a in found if a.is_write}
    reductions: list[tuple[Sym, str]] = []
    for buf in sorted(written, key=lambda s: s.uid):
        touching = [a for a in found if a.buf == buf]
        op = _reduction(loop, buf, touching)
        if op is not None:
            reductions.append((buf, op))
            continue
        for index, w in enumerate(touching):
            for a in touching[index:] if w.is_write else touching[index + 1 :]:
                if (w.is_write or a.is_write) and not disjoint(loop, env, w, a):
                    return Independence(False, reason=f"iterations of '{loop.sym.name}' may touch the same element of '{buf.name}'")
    return Independence(True, tuple(reductions))


def bounds_change(loop: For) -> bool:
    """Whether the bounds may have other values when they are evaluated again after some iterations: they load what the body writes."""
    loaded = {e.buf for bound in (loop.lo, loop.hi, loop.step) for e in walk_expr(bound) if isinstance(e, Load)}
    return bool(loaded) and not loaded.isdisjoint(written_buffers(loop.body))


def can_interchange(module: Module, outer: For, inner: For) -> Independence:
    """Two perfectly nested loops may change places when the outer one's iterations are independent: then no dependence has a direction
    that the
    interchange could reverse. Rectangular bounds are required."""
    if len(outer.body) != 1 or outer.body[0] is not inner:
        return Independence(False, reason=f"'{inner.sym.name}' is not alone in '{outer.sym.name}'")
    used = {e.sym for x in (inner.lo, inner.hi, inner.step) for e in walk_expr(x) if isinstance(e, Var)}
    if outer.sym in used:
        return Independence(False, reason=f"the bounds of '{inner.sym.name}' depend on '{outer.sym.name}'")
    if any(isinstance(e, Load) for x in (inner.lo, inner.hi, inner.step) for e in walk_expr(x)):
        return Independence(False, reason=f"the bounds of '{inner.sym.name}' are loaded from memory")
    return independent_iterations(module, outer)


def _leaves(body: Body, depth: int = 0) -> str:
    """Why control may leave an iteration or meet others in it; empty when it does not."""
    for stmt in body:
        match stmt:
            case Return():
                return "the body returns"
            case Break() if depth == 0:
                return "the body breaks out of the loop"
            case Sync():
                return "the body has a barrier"
            case Call() if not stmt.op.startswith("host."):
                return f"the body calls {stmt.op}"
            case Continue():
                continue
        from synth.ir.traversal import bodies

        deeper = depth + isinstance(stmt, For | While)
        for inner in bodies(stmt):
            reason = _leaves(inner, deeper)
            if reason:
                return reason
    return ""


def _reduction(loop: For, buf: Sym, touching: list[Access]) -> str | None:
    """The operator when every access of ``buf`` in the loop belongs to an update ``x = x op e`` of one and the same kind, at an index
    that is the same in
    all iterations, ``e`` free of ``buf``."""
    ops: set[str] = set()
    bound = {loop.sym} | {s.sym for s in walk(loop.body) if isinstance(s, For | Let)}
    for a in touching:
        s = a.stmt
        if not isinstance(s, Store) or s.buf != buf or s.mask is not None or not isinstance(s.value, Binary) or s.value.op not in REDUCIBLE:
            return None
        own = Load(buf, s.index, s.value.type)
        rest = s.value.b if s.value.a == own else s.value.a if s.value.b == own else None
        if rest is None or any(isinstance(e, Load) and e.buf == buf for e in walk_expr(rest)):
            return None
        if any((isinstance(e, Var) and e.sym in bound) or isinstance(e, Load) for i in s.index for e in walk_expr(i)):
            return None
        ops.add(s.value.op)
    return ops.pop() if len(ops) == 1 else None


# -------------------------------------------------------------------------------------------------- pairs of accesses


@dataclass(frozen=True, slots=True)
class _Instance:
    """One of the two iterations: its own copies of everything bound in the loop."""

    index: tuple[Poly, ...]
    facts: tuple[Poly, ...]
    ranges: Mapping[Sym, Range]
    me: Poly  # the loop variable, divided by its step


def disjoint(loop: For, env: Env, a: Access, b: Access) -> bool:
    """Whether two accesses in the body of a loop never touch one element in different iterations. ``env`` holds inside the loop."""
    if a.region is not None or b.region is not None:
        return False
    if len(a.index) != len(b.index):
        return False
    first, second = _instance(loop, env, a, "'"), _instance(loop, env, b, "''")
    both = Env(ranges={**env.ranges, **first.ranges, **second.ranges}, facts=(*env.facts, *first.facts, *second.facts), written=env.written)
    slack = atom_poly(Var(Sym("lane"), DType.I64))
    (lane,) = slack.atoms()
    if isinstance(lane, Var):
        both = both.with_range(lane.sym, Range(-(b.count - 1), a.count - 1))
    last = len(a.index) - 1
    pairs = [
        (x, y - slack if d == last and (a.count > 1 or b.count > 1) else y)
        for d, (x, y) in enumerate(zip(first.index, second.index, strict=True))
    ]
    apart = first.me - second.me
    if any(_never_equal(both, x, y, apart) for x, y in pairs):
        return True
    zero = tuple(x - y for x, y in pairs)
    one = const_poly(1)
    return all(bool(contradictory(both, (order - one,), zero)) for order in (apart, -apart))


def _never_equal(env: Env, x: Poly, y: Poly, apart: Poly, depth: int = 3) -> bool:
    """Whether ``x != y`` for different iterations: a multiple of their distance dominates the rest, or parts of a linearised index
    differ."""
    difference = x - y
    factor = _multiple(difference, apart)
    if factor:
        rest = env.bounds(difference - apart.scaled(factor))
        if rest.lo is not None and rest.hi is not None and max(-rest.lo, rest.hi) < abs(factor):
            return True
    known = env.bounds(difference)
    if (known.lo is not None and known.lo > 0) or (known.hi is not None and known.hi < 0):
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


def _splits(env: Env, x: Poly, y: Poly) -> list[tuple[tuple[Poly, Poly], tuple[Poly, Poly]]]:
    """Ways to read both indexes as ``N * q + r`` with ``0 <= r < N``, N a symbol: then they are equal only if both parts are."""
    found = []
    symbols = {atom for m in x.terms for atom in m if len(m) > 1} | {m[0] for m in x.terms if len(m) == 1 and (m[0], m[0]) in x.terms}
    for n in sorted((s for s in symbols if isinstance(s, Var)), key=lambda v: v.sym.uid):
        parts = []
        for poly in (x, y):
            if any(m.count(n) > 1 for m in poly.terms):
                break
            q, r = poly.coefficient(n), poly.without(n)
            if not (env.never_negative(r) and env.never_negative(atom_poly(n) - r - const_poly(1))):
                break
            parts.append((q, r))
        if len(parts) == 2:
            found.append((parts[0], parts[1]))
    return found


def _instance(loop: For, env: Env, access: Access, mark: str) -> _Instance:
    """The access in an iteration of its own: everything bound in the loop renamed, loop variables with a literal step counted in steps."""
    names: dict[Sym, Var] = {}
    opaque: dict[Atom, Poly] = {}
    inner_loops = {s.sym: s for s in access.env.loops if s.sym not in {x.sym for x in env.loops} or s is loop}
    bound = set(inner_loops) | (set(access.env.lets) - set(env.lets))

    def renamed(atom: Atom) -> Atom:
        def one(e: Expr) -> Expr:
            if isinstance(e, Var) and e.sym in bound:
                return names.setdefault(e.sym, Var(Sym(e.sym.name + mark), e.type))
            return e

        return rewrite_expr(atom, one)

    def replace(atom: Atom) -> Poly | None:
        if not access.env.stable(atom):
            # A value loaded from what the module writes: it may differ from one moment to the next.
            return opaque.setdefault(atom, atom_poly(Var(Sym("loaded" + mark), DType.I64)))
        if isinstance(atom, Var) and atom.sym in inner_loops:
            inner = inner_loops[atom.sym]
            step = inner.step
            renamed(atom)
            if isinstance(step, Const) and int(step.value) > 1:
                lo = access.env.normal(inner.lo).substitute(replace)
                return lo + atom_poly(_steps(names[atom.sym])).scaled(int(step.value))
        new = renamed(atom)
        return atom_poly(new)

    index = tuple(access.env.normal(i).substitute(replace) for i in access.index)
    facts = tuple(f.substitute(replace) for f in access.env.facts[len(env.facts) :])
    own = access.env.facts[: len(env.facts)]
    facts += tuple(f.substitute(replace) for f in own if any(isinstance(a, Var) and a.sym == loop.sym for a in f.atoms()))
    me = replace(Var(loop.sym, loop.dtype)) or Poly()
    step = loop.step
    if isinstance(step, Const) and int(step.value) > 1:
        me = atom_poly(_steps(names[loop.sym]))
    ranges: dict[Sym, Range] = {}
    for sym, new in names.items():
        known = access.env.ranges.get(sym)
        if known is not None:
            ranges[new.sym] = known
        inner = inner_loops.get(sym)
        if inner is not None and isinstance(inner.step, Const) and int(inner.step.value) > 1:
            ranges[_steps(new).sym] = _trips(access.env, inner, int(inner.step.value))
    return _Instance(index, facts, ranges, me)


def _steps(v: Var) -> Var:
    """The number of steps taken by a loop variable, as a symbol derived from the variable's own."""
    return Var(Sym(v.sym.name + ".steps", -v.sym.uid), DType.I64)


def _trips(env: Env, loop: For, step: int) -> Range:
    lo, hi = env.range_of(loop.lo).lo, env.range_of(loop.hi).hi
    return Range(0, None if lo is None or hi is None else max(0, (hi - 1 - lo) // step))
