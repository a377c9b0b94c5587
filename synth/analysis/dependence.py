"""Which iterations of a loop need each other.

Two iterations conflict when both touch one location and one of them writes it. A pair of accesses is shown free of conflicts between
different
iterations i != i' by, in this order: a stride that dominates the rest of the difference, splitting a linearised index at a symbolic or
literal
extent, and Z3 over the two instances with all guards as facts. What none of them shows counts as a conflict.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.access import Access, accesses
from synth.analysis.linear import env_at, private_buffers
from synth.analysis.pairs import disjoint
from synth.ir.grammar import (
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
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.ir.traversal import walk, walk_expr, written_buffers

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
    env = env_at(module, loop, tracking=True).with_loop(loop)
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
