"""Is every access inside its buffer? Intervals and facts first, Z3 where they do not decide."""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.access import Access, accesses
from synth.analysis.extents import upper_bound
from synth.analysis.linear import entry_env
from synth.analysis.polynomial import Poly, const_poly
from synth.analysis.solver import Proof, contradictory
from synth.ir.grammar import Alloc, Expr, Location, Module, Sym
from synth.ir.traversal import walk

MAX_FAILURES = 12
SOLVER_MS = 500


@dataclass(frozen=True, slots=True)
class BoundsFinding:
    """One access. A model of Z3 is never taken for a real execution, since guards and loaded values are abstracted: such an access
    is ``unknown``."""

    buffer: str
    is_write: bool
    location: Location | None
    proof: Proof
    detail: str = ""


def check_bounds(module: Module) -> tuple[BoundsFinding, ...]:
    """A finding for every access of a buffer whose shape is known."""
    shapes: dict[Sym, tuple[Expr, ...]] = {p.sym: p.shape for p in module.params if p.shape}
    shapes |= {s.sym: s.shape for s in walk(module.body) if isinstance(s, Alloc)}
    scalars = {p.sym for p in module.params if not p.is_buffer}
    found: list[BoundsFinding] = []
    failures = 0
    for access in accesses(module.body, entry_env(module)):
        shape = shapes.get(access.buf)
        if shape is None or not shape or access.region is not None:
            continue
        # Where the solver has failed often it will go on failing, at its slowest: what is left gets the cheap checks only.
        finding = _check(access, shape, scalars, ask_solver=failures < MAX_FAILURES)
        failures += finding.proof is not Proof.PROVED
        found.append(finding)
    return tuple(found)


def _check(access: Access, shape: tuple[Expr, ...], scalars: set[Sym], ask_solver: bool) -> BoundsFinding:
    env = access.env
    count = const_poly(access.count) if access.active is None else env.normal(access.active)
    if len(access.index) != len(shape):
        return BoundsFinding(access.buf.name, access.is_write, access.stmt.loc, Proof.UNKNOWN, "another rank")
    for d, (index, extent) in enumerate(zip(access.index, shape, strict=True)):
        last = d == len(shape) - 1
        low = env.normal(index)
        size = env.normal(extent)
        high = size - low - (count if last else const_poly(1))
        for side, poly in (("below 0", low), ("beyond the end", high)):
            if env.never_negative(poly) or (side != "below 0" and _bounded(access, index, size, count if last else const_poly(1), scalars)):
                continue
            if not ask_solver or not contradictory(env, (-poly - const_poly(1),), timeout_ms=SOLVER_MS):
                return BoundsFinding(access.buf.name, access.is_write, access.stmt.loc, Proof.UNKNOWN, side)
    return BoundsFinding(access.buf.name, access.is_write, access.stmt.loc, Proof.PROVED)


def _bounded(access: Access, index: Expr, size: Poly, count: Poly, scalars: set[Sym]) -> bool:
    """Whether an upper bound of the index over the scalar parameters alone, which follows from guards multiplied by sizes, stays below
    ``size``."""
    bound = upper_bound(access.env, access.env.normal(index) + count - const_poly(1), scalars)
    return bound is not None and access.env.never_negative(size - bound - const_poly(1))
