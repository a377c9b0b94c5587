"""Scalar values in a vector body whose lanes may all be off: the scalar program would not have computed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.analysis.linear import Env
from synth.analysis.polynomial import const_poly
from synth.analysis.speculation import is_harmless, may_fail
from synth.ir.builder import const
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Alloc, Binary, Const, Expr, Let, Load, Module, Reduce, Select, Sym
from synth.ir.traversal import walk, walk_expr

Extents = Mapping[Sym, tuple[Expr, ...]]


def extents(module: Module) -> Extents:
    """The shapes of all buffers that are stated without loads."""
    shapes: dict[Sym, tuple[Expr, ...]] = {p.sym: p.shape for p in module.params if p.shape}
    shapes |= {s.sym: s.shape for s in walk(module.body) if isinstance(s, Alloc)}
    return {sym: shape for sym, shape in shapes.items() if not any(isinstance(e, Load) for x in shape for e in walk_expr(x))}


# A statement under a mask runs for the lanes in which the mask holds; a scalar that it computes once for all lanes is computed by the
# scalar program only if there is such a lane. So either there is one (the mask is ``occupied``), or the computation cannot fail, or it
# waits for one.
@dataclass(slots=True)
class Guard:
    """``base`` is what holds in the body whatever its conditions; ``occupied`` are masks in which a lane is on wherever they are used."""

    base: Env
    extents: Extents
    occupied: set[Expr | None] = field(default_factory=lambda: {None})

    def once(self, e: Expr, mask: Expr | None, env: Env) -> Expr:
        """A scalar that is the same in all lanes."""
        if mask is None or mask in self.occupied or self._cannot_fail(e, env):
            return e
        return Select(Reduce("or", mask), e, zero(e))

    def _cannot_fail(self, e: Expr, env: Env) -> bool:
        if is_harmless(e):
            return True
        known = self._unconditional(env)
        return all(isinstance(x, Load) and self._is_inside(x, known) for x in walk_expr(e) if may_fail(x))

    def _unconditional(self, env: Env) -> Env:
        """What ``env`` knows without its conditions: definitions, and the loops in the body that run for all lanes alike."""
        known = self.base
        for sym, value in env.lets.items():
            if sym not in known.lets:
                known = known.with_let(Let(sym, value))
        for loop in env.loops[len(self.base.loops) :]:
            known = known.with_loop(loop)
        return known

    def _is_inside(self, e: Load, env: Env) -> bool:
        shape = self.extents.get(e.buf)
        if shape is None or len(shape) != len(e.index):
            return False
        for index, extent in zip(e.index, shape, strict=True):
            low = env.normal(index)
            if not (env.never_negative(low) and env.never_negative(env.normal(extent) - low - const_poly(1))):
                return False
        return True


def zero(e: Expr) -> Const:
    """Something of the type of ``e``, for lanes that nobody looks at."""
    dtype = scalar(e.type)
    return const(False, DType.BOOL) if dtype is DType.BOOL else const(0, dtype)


def conjunction(a: Expr | None, b: Expr) -> Expr:
    """Both masks."""
    return b if a is None else Binary("and", a, b)
