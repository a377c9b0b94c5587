"""Is every access inside its buffer? Intervals and facts first, then Z3; a refutation is a point that is really reached."""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.access import Access, accesses
from synth.analysis.extents import upper_bound
from synth.analysis.linear import Env, entry_env
from synth.analysis.polynomial import Poly, const_poly
from synth.analysis.ranges import Range
from synth.analysis.refutation import happens_outside
from synth.analysis.solver import Proof, contradictory
from synth.ir.grammar import Alloc, Expr, Location, Module, Sym
from synth.ir.traversal import walk

MAX_FAILURES = 12
SOLVER_MS = 500


@dataclass(frozen=True, slots=True)
class BoundsFinding:
    """One access. ``refuted`` means that an execution without early exits or loaded conditions on its way gets there with an index outside;
    ``detail`` then is that index and point, else the side that is open."""

    buffer: str
    is_write: bool
    location: Location | None
    proof: Proof
    detail: str = ""


def check_bounds(module: Module) -> tuple[BoundsFinding, ...]:
    """A finding for every access, operands of calls included, of a buffer whose shape is known."""
    shapes: dict[Sym, tuple[Expr, ...]] = {p.sym: p.shape for p in module.params if p.shape}
    shapes |= {s.sym: s.shape for s in walk(module.body) if isinstance(s, Alloc)}
    found: list[BoundsFinding] = []
    failures = 0
    for access in accesses(module.body, entry_env(module)):
        shape = shapes.get(access.buf)
        if not shape:
            continue
        # Where the solver has failed often it will go on failing, at its slowest: what is left gets the cheap checks only.
        finding = _Check(module, access, shape, failures < MAX_FAILURES).finding()
        failures += finding.proof is not Proof.PROVED
        found.append(finding)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Check:
    module: Module
    access: Access
    shape: tuple[Expr, ...]
    ask_solver: bool

    # For every execution of the access under its guards, in every dimension d: 0 <= index_d and index_d + count_d <= extent_d.
    def finding(self) -> BoundsFinding:
        access, env = self.access, self.access.env
        if len(access.index) != len(self.shape):
            return self._found(Proof.UNKNOWN, "another rank")
        for d, (index, extent) in enumerate(zip(access.index, self.shape, strict=True)):
            count = self._count(d)
            if not env.always_positive(count) and env.never_negative(-count):
                continue
            low, size = env.normal(index), env.normal(extent)
            for side, poly in (("below 0", low), ("beyond the end", size - low - count)):
                if env.never_negative(poly) or (side != "below 0" and self._bounded(index, size, count)):
                    continue
                open_side = self._asked(poly, side)
                if open_side is not None:
                    return open_side
        return self._found(Proof.PROVED)

    def _count(self, d: int) -> Poly:
        """The number of elements that are touched from the index on in a dimension."""
        access = self.access
        if access.region is not None:
            return access.env.normal(access.region.extent[d]) if access.region.extent else const_poly(1)
        if d < len(self.shape) - 1:
            return const_poly(1)
        return const_poly(access.count) if access.active is None else access.env.normal(access.active)

    def _asked(self, poly: Poly, side: str) -> BoundsFinding | None:
        """The solver's answer to ``poly >= 0``: None when it is proved."""
        if not self.ask_solver:
            return self._found(Proof.UNKNOWN, side)
        result = contradictory(self.access.env, (-poly - const_poly(1),), timeout_ms=SOLVER_MS)
        if result:
            return None
        if result.proof is Proof.REFUTED and self.access.region is None:
            scalars = {p.sym: self.access.env.ranges.get(p.sym, Range()).value for p in self.module.params if not p.is_buffer}
            fixed = {sym: value for sym, value in scalars.items() if value is not None}
            words = happens_outside(self.module, self.access, self.shape, {**result.values, **fixed})
            # Sizes that are parameters may obey rules that the program does not state: such a point is a hint, no refutation.
            if words:
                return self._found(Proof.REFUTED if len(fixed) == len(scalars) else Proof.UNKNOWN, f"{side}: {words}")
        return self._found(Proof.UNKNOWN, side)

    def _bounded(self, index: Expr, size: Poly, count: Poly) -> bool:
        """Whether an upper bound of the index over the scalar parameters alone, which follows from guards multiplied by sizes, stays below
        ``size``."""
        env: Env = self.access.env
        scalars = {p.sym for p in self.module.params if not p.is_buffer}
        bound = upper_bound(env, env.normal(index) + count - const_poly(1), scalars)
        return bound is not None and env.never_negative(size - bound - const_poly(1))

    def _found(self, proof: Proof, detail: str = "") -> BoundsFinding:
        return BoundsFinding(self.access.buf.name, self.access.is_write, self.access.stmt.loc, proof, detail)
