"""Which iterations of a loop need each other.

Two iterations conflict when both touch one location and one of them writes it; ``synth.analysis.pairs`` decides it for a pair of accesses,
and what it does not show counts as a conflict. Whether loops may be run in parallel, interchanged, distributed or fused follows from which
conflicts there are and in which direction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from synth.analysis.access import Access, accesses
from synth.analysis.linear import Env, env_at, private_buffers
from synth.analysis.pairs import disjoint
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Continue,
    For,
    Let,
    Load,
    Module,
    Return,
    Stmt,
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.ir.traversal import (
    bodies,
    read_buffers,
    substitute,
    used_values,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)

REDUCIBLE = frozenset({"add", "mul", "min", "max", "and", "or", "xor"})


MAX_PAIRS = 5000  # of accesses in a loop that are compared; a body with more is no kernel's inner part


@dataclass(frozen=True, slots=True)
class Independence:
    """Truthy when the question is answered by yes. ``reductions`` are the buffers (mutable scalars, or elements at an index that does not
    depend on the loop) that the iterations only accumulate into by one operator: order matters there to rounding only."""

    holds: bool
    reductions: tuple[tuple[Sym, str], ...] = ()
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True)
class Dependence:
    """Two statements of a loop that may touch one element of ``buf`` in different iterations: ``kind`` is ``flow or anti`` (a read and a
    write) or ``output`` (two writes), or ``reduction`` when both only accumulate by ``op``. Nothing is said about whether they do."""

    buf: Sym
    first: Stmt
    second: Stmt
    kind: str
    op: str = ""


def loop_dependences(module: Module, loop: For) -> tuple[Dependence, ...]:
    """All pairs of statements that are not shown to be independent between different iterations. The loop itself must not be left early,
    nor hold barriers: see ``independent_iterations``."""
    return tuple(_dependences(loop, *_touching(module, loop)))


# No two iterations i != i' touch one location with a write, but for accumulations; each runs to its end and alone. What is allocated in the
# body is fresh in every iteration.
def independent_iterations(module: Module, loop: For) -> Independence:
    """Whether the iterations of ``loop`` may run in any order and at once, but for reductions."""
    control = _leaves(loop.body)
    if control:
        return Independence(False, reason=control)
    if bounds_change(loop):
        return Independence(False, reason=f"the bounds of '{loop.sym.name}' are loaded from memory that its body writes")
    env, touching = _touching(module, loop)
    if sum(len(group) ** 2 for group in touching.values()) > 2 * MAX_PAIRS:
        return Independence(False, reason=f"there are more than {MAX_PAIRS} pairs of accesses in '{loop.sym.name}'")
    reductions: dict[Sym, str] = {}
    for found in _dependences(loop, env, touching):
        if not found.op:
            return Independence(False, reason=f"iterations of '{loop.sym.name}' may touch the same element of '{found.buf.name}'")
        reductions[found.buf] = found.op
    return Independence(True, tuple(reductions.items()))


can_run_in_parallel = independent_iterations


def _dependences(loop: For, env: Env, touching: dict[Sym, list[Access]]) -> Iterator[Dependence]:
    for buf, found in touching.items():
        op = _reduction(loop, buf, found) or ""
        for index, w in enumerate(found):
            for a in found[index:]:
                if (w.is_write or a.is_write) and (op or not disjoint(loop, env, w, a)):
                    kind = "reduction" if op else "output" if w.is_write and a.is_write else "flow or anti"
                    yield Dependence(buf, w.stmt, a.stmt, kind, op)


def _touching(module: Module, loop: For) -> tuple[Env, dict[Sym, list[Access]]]:
    """What holds in a loop, and the accesses of its body by buffer, of those that outlive an iteration and are written in it."""
    env = env_at(module, loop, tracking=True).with_loop(loop)
    private = private_buffers(loop.body)
    found: dict[Sym, list[Access]] = {}
    for access in accesses(loop.body, env):
        if access.buf not in private:
            found.setdefault(access.buf, []).append(access)
    written = sorted((buf for buf, group in found.items() if any(a.is_write for a in group)), key=lambda s: s.uid)
    return env, {buf: found[buf] for buf in written}


def bounds_change(loop: For) -> bool:
    """Whether the bounds may have other values when they are evaluated again after some iterations: they load what the body writes."""
    loaded = {e.buf for bound in (loop.lo, loop.hi, loop.step) for e in walk_expr(bound) if isinstance(e, Load)}
    return bool(loaded) and not loaded.isdisjoint(written_buffers(loop.body))


# for i { for j S(i, j) } = for j { for i S(i, j) } for rectangular bounds that do not change, if no location is touched, with a write, by
# S(i, j) and S(i', j') with i < i' and j > j': only the order of such pairs is reversed.
def can_interchange(module: Module, outer: For, inner: For) -> Independence:
    """Whether two perfectly nested loops may change places."""
    if len(outer.body) != 1 or outer.body[0] is not inner:
        return Independence(False, reason=f"'{inner.sym.name}' is not alone in '{outer.sym.name}'")
    bounds = (inner.lo, inner.hi, inner.step)
    if any(isinstance(e, Var) and e.sym == outer.sym for x in bounds for e in walk_expr(x)):
        return Independence(False, reason=f"the bounds of '{inner.sym.name}' depend on '{outer.sym.name}'")
    if any(isinstance(e, Load) for x in bounds for e in walk_expr(x)):
        return Independence(False, reason=f"the bounds of '{inner.sym.name}' are loaded from memory")
    control = _leaves(inner.body)
    if control:
        return Independence(False, reason=control)
    independent = independent_iterations(module, outer)
    if independent or bounds_change(outer):
        return independent
    _, touching = _touching(module, inner)
    env = env_at(module, outer, tracking=True).with_loop(outer)
    reductions: list[tuple[Sym, str]] = []
    for buf, found in touching.items():
        op = _reduction(outer, buf, found)
        if op is not None:
            reductions.append((buf, op))
            continue
        for a, b in product(found, found):
            if (a.is_write or b.is_write) and not disjoint(outer, env, a, b, order=((outer, 1), (inner, -1))):
                reason = f"the order in which '{outer.sym.name}' touches the same element of '{buf.name}' would be reversed"
                return Independence(False, reason=reason)
    return Independence(True, tuple(reductions))


# for i { A(i); B(i) } = for i A(i); for i B(i) if no location is touched, with a write, by B(i) and A(i') with i < i': only the order of
# such pairs is reversed. Nothing private to an iteration crosses the cut but definitions that have one value whenever evaluated.
def can_distribute(module: Module, loop: For, cut: int) -> Independence:
    """Whether the body of a loop may be spread over two loops, the first with its first ``cut`` statements."""
    head, tail = loop.body[:cut], loop.body[cut:]
    control = _leaves(loop.body) or ("the body skips the rest of an iteration" if _skips(loop.body) else "")
    if control:
        return Independence(False, reason=control)
    if bounds_change(loop):
        return Independence(False, reason=f"the bounds of '{loop.sym.name}' are loaded from memory that its body writes")
    env, touching = _touching(module, loop)
    if {s.sym for s in head if isinstance(s, Alloc)} & (read_buffers(tail) | written_buffers(tail)):
        return Independence(False, reason="a private buffer would cross the cut")
    used = used_values(tail)
    if any(isinstance(s, Let) and s.sym in used and not env.stable(s.value) for s in head):
        return Independence(False, reason="a value loaded from changing memory would cross the cut")
    before = {id(s) for s in walk(head)}
    for buf, found in touching.items():
        early, late = [a for a in found if id(a.stmt) in before], [a for a in found if id(a.stmt) not in before]
        for b, a in product(late, early):
            if (a.is_write or b.is_write) and not disjoint(loop, env, b, a, order=((loop, 1),)):
                return Independence(False, reason=f"an iteration may need '{buf.name}' as the rest of an earlier one leaves it")
    return Independence(True)


# for i A(i); for j B(j) = for i { A(i); B(i) } over the same values, exactly if the fused loop may be distributed again.
def can_fuse_adjacent(module: Module, first: For, second: For) -> Independence:
    """Whether two loops, one directly after the other, may become one with the bodies in sequence."""
    env = env_at(module, first)
    same = all(env.normal(x) == env.normal(y) for x, y in ((first.lo, second.lo), (first.hi, second.hi), (first.step, second.step)))
    if not same or first.dtype is not second.dtype or first.axis is not second.axis:
        return Independence(False, reason=f"'{first.sym.name}' and '{second.sym.name}' do not run over the same values")
    loaded = {e.buf for bound in (second.lo, second.hi, second.step) for e in walk_expr(bound) if isinstance(e, Load)}
    if loaded & (written_buffers(first.body) | written_buffers(second.body)):
        return Independence(False, reason=f"the bounds of '{second.sym.name}' are loaded from memory that is written between")
    body = (*first.body, *substitute(second.body, {second.sym: Var(first.sym, first.dtype)}))
    fused = dataclasses.replace(first, body=body)
    if not _adjacent(module.body, first, second):
        return Independence(False, reason=f"'{second.sym.name}' does not follow '{first.sym.name}' directly")
    after = dataclasses.replace(module, body=_with_fused(module.body, first, second, fused))
    return can_distribute(after, fused, len(first.body))


def _adjacent(body: Body, first: Stmt, second: Stmt) -> bool:
    if any(a is first and b is second for a, b in pairwise(body)):
        return True
    return any(_adjacent(inner, first, second) for s in body for inner in bodies(s))


def _with_fused(body: Body, first: Stmt, second: Stmt, fused: Stmt) -> Body:
    new = (fused if s is first else with_bodies(s, tuple(_with_fused(b, first, second, fused) for b in bodies(s))) for s in body)
    return tuple(n for s, n in zip(body, new, strict=True) if s is not second)


def _skips(body: Body) -> bool:
    """Whether a ``continue`` of the loop itself is in its body."""
    return any(isinstance(s, Continue) or (not isinstance(s, For | While) and any(_skips(inner) for inner in bodies(s))) for s in body)


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
        deeper = depth + isinstance(stmt, For | While)
        for inner in bodies(stmt):
            reason = _leaves(inner, deeper)
            if reason:
                return reason
    return ""


def _reduction(loop: For, buf: Sym, touching: list[Access]) -> str | None:
    """The operator when every access of ``buf`` in the loop belongs to an update ``x = x op e`` of one and the same kind, at an index
    that is the same in all iterations, ``e`` free of ``buf``."""
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
