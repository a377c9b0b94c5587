"""One loop per dimension: what a launch spread over blocks and threads, or a flat index over several dimensions, is brought to the loops
that the
program means, before anything is scheduled."""

from __future__ import annotations

from collections.abc import Iterator

from synth.analysis.linear import env_at
from synth.analysis.polynomial import Poly
from synth.ir.builder import int_value
from synth.ir.grammar import Binary, Const, Expr, For, Let, Module, Sym, Var
from synth.ir.traversal import all_exprs, loops, site_names, walk
from synth.lowering.steps import Lowering
from synth.passes.arithmetic import is_integer
from synth.passes.loop_fuse import LoopFuse
from synth.passes.loop_reorder import LoopReorder
from synth.passes.loop_split import LoopSplit
from synth.passes.simplify import Simplify

MAX_STEPS = 32


def one_loop_per_dimension(lowering: Lowering) -> None:
    """Fuses loops that are only used as a sum, brought together first; splits loops over flat indexes."""
    for _ in range(MAX_STEPS):
        if not _fuse_one(lowering) and not _split_one(lowering):
            return


# ---------------------------------------------------------------------------------------------------- bx * 16 + tx


def _fuse_one(lowering: Lowering) -> bool:
    return any(_fused(lowering, outer, between, inner) for outer, between, inner in _pairs(lowering.module))


def _pairs(module: Module) -> Iterator[tuple[Sym, tuple[Sym, ...], Sym]]:
    """Loops of one nest of serial loops that occur in a sum, with the loops between them, outermost first."""
    for loop in loops(module).values():
        chain: list[For] = [loop]
        while chain[-1].axis is None and chain[-1].body and isinstance(chain[-1].body[-1], For):
            if any(not isinstance(s, Let) for s in chain[-1].body[:-1]):
                break
            chain.append(chain[-1].body[-1])
        for position in range(1, len(chain)):
            if chain[position].axis is None and _occur_in_a_sum(loop, chain[position]):
                yield loop.sym, tuple(x.sym for x in chain[1:position]), chain[position].sym


def _occur_in_a_sum(outer: For, inner: For) -> bool:
    """A quick test: some expression adds the inner loop variable to a multiple of the outer one."""
    lets = {s.sym: s.value for s in walk(outer.body) if isinstance(s, Let)}
    return any(
        isinstance(e, Binary) and e.op == "add" and outer.sym in _terms(e, lets) and inner.sym in _terms(e, lets)
        for e in all_exprs(outer.body)
        if is_integer(e)
    )


def _terms(e: Expr, lets: dict[Sym, Expr]) -> set[Sym]:
    """Symbols that occur as a term of a sum, times something perhaps."""
    match e:
        case Var() if e.sym in lets:
            return _terms(lets[e.sym], lets)
        case Var():
            return {e.sym}
        case Binary(op="add" | "sub" | "mul"):
            return _terms(e.a, lets) | _terms(e.b, lets)
        case _:
            return _terms(e.a, lets) if hasattr(e, "a") and not isinstance(e, Binary) else set()


def _fused(lowering: Lowering, outer: Sym, between: tuple[Sym, ...], inner: Sym) -> bool:
    """Brings the inner loop next to the outer one and fuses them; leaves everything as it was where a step is refused."""
    module = lowering.module
    for sym in reversed(between):
        names = site_names(module)
        step = LoopReorder(names[sym], names[inner])
        if not step.check(module, lowering.spec):
            return False
        module = step.apply(module, lowering.spec)
    names = site_names(module)
    fuse = LoopFuse(names[outer], names[inner])
    if not fuse.is_sum(module):
        return False
    saved = lowering.saved()
    for sym in reversed(between):
        names = site_names(lowering.module)
        if not lowering.attempt(LoopReorder(names[sym], names[inner])):
            lowering.restore(saved)
            return False
    names = site_names(lowering.module)
    if not lowering.attempt(LoopFuse(names[outer], names[inner])):
        lowering.restore(saved)
        return False
    lowering.attempt(Simplify())
    return True


# ------------------------------------------------------------------------------------------------------ idx / C, idx % C


def _split_one(lowering: Lowering) -> bool:
    for site, loop in loops(lowering.module).items():
        if loop.axis is not None or int_value(loop.lo) != 0 or int_value(loop.step) != 1:
            continue
        for divisor in sorted(_divisors(lowering.module, loop)):
            if lowering.attempt(LoopSplit(site, divisor)):
                lowering.attempt(Simplify())
                return True
    return False


def _divisors(module: Module, loop: For) -> set[int]:
    """Literals by which the loop variable itself is divided, and which divide its count."""
    count = env_at(module, loop).normal(loop.hi)
    x = Var(loop.sym, loop.dtype)
    return {
        int(e.b.value)
        for e in all_exprs(loop.body)
        if isinstance(e, Binary) and e.op in ("div", "mod") and is_integer(e) and isinstance(e.b, Const) and _is(e.a, x)
        if int(e.b.value) > 1 and _divides(int(e.b.value), count)
    }


def _is(e: Expr, x: Var) -> bool:
    while hasattr(e, "a") and not isinstance(e, Binary):
        e = e.a
    return e == x


def _divides(d: int, count: Poly) -> bool:
    known = count.constant
    return known != d and all(c % d == 0 for c in count.terms.values())
