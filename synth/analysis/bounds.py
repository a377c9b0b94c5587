"""Is every access inside its buffer? Intervals and facts first, Z3 where they do not decide."""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.access import Access, accesses
from synth.analysis.linear import module_env
from synth.analysis.polynomial import const_poly
from synth.analysis.solver import Proof, contradictory
from synth.ir.grammar import Alloc, Expr, Location, Module, Sym
from synth.ir.traversal import walk


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
    found: list[BoundsFinding] = []
    for access in accesses(module.body, module_env(module)):
        shape = shapes.get(access.buf)
        if shape is None or not shape or access.region is not None:
            continue
        found.append(_check(access, shape))
    return tuple(found)


def _check(access: Access, shape: tuple[Expr, ...]) -> BoundsFinding:
    env = access.env
    if len(access.index) != len(shape):
        return BoundsFinding(access.buf.name, access.is_write, access.stmt.loc, Proof.UNKNOWN, "another rank")
    for d, (index, extent) in enumerate(zip(access.index, shape, strict=True)):
        last = d == len(shape) - 1
        low = env.normal(index)
        high = env.normal(extent) - low - const_poly(access.count if last else 1)
        for side, poly in (("below 0", low), ("beyond the end", high)):
            if env.never_negative(poly):
                continue
            verdict = contradictory(env, (-poly - const_poly(1),))
            if not verdict:
                return BoundsFinding(access.buf.name, access.is_write, access.stmt.loc, Proof.UNKNOWN, side)
    return BoundsFinding(access.buf.name, access.is_write, access.stmt.loc, Proof.PROVED)
