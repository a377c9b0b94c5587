"""``loop_fuse``: two nested loops become one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.linear import env_at
from synth.errors import IllegalPassError
from synth.ir.builder import const, int_value
from synth.ir.grammar import Binary, For, Let, Module, Var
from synth.ir.traversal import find_loop, loops, replace_stmt
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.fuse_affine import NotAffine, fused_affine
from synth.passes.loop_split import breaks
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class LoopFuse:
    """Makes one loop of a nest whose inner bounds are literals; definitions between the two loops are repeated.

    Before: ``for bx in 0..g { for tx in 0..min(256, n - bx * 256) { let i = bx * 256 + tx; S(i) } }``
    After:  ``for i in 0..min(g * 256, n) { S(i) }``
    and where the two are used apart

    Before: ``for i in 0..m { for j in 0..8 { S(i, j) } }``
    After:  ``for i.j in 0..m*8 { let i = i.j / 8; let j = i.j % 8; S(i, j) }``
    """

    name: ClassVar[str] = "loop_fuse"
    outer: str
    inner: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Nests of serial loops with nothing but definitions between them."""
        sites = {id(loop): site for site, loop in loops(module).items()}
        return tuple(
            cls(site, sites[id(loop.body[-1])])
            for site, loop in loops(module).items()
            if loop.body and isinstance(loop.body[-1], For) and loop.axis is None and not _reason(module, loop, loop.body[-1])
        )

    # Used as a sum only: see fused_affine. Else: (i.j / n, i.j % n) runs over all pairs (i, j) in the order of the nest, for lower bounds
    # 0 and an inner count n > 0; between the loops stand only definitions that have the same value whenever they are evaluated.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        outer, inner = find_loop(module, self.outer), find_loop(module, self.inner)
        if outer is None or inner is None:
            return Illegal(f"there is no loop '{self.inner if outer else self.outer}'", self.outer)
        if not outer.body or outer.body[-1] is not inner:
            return Illegal(f"'{self.inner}' is not the last statement of '{self.outer}'", self.outer)
        reason = _reason(module, outer, inner)
        return Illegal(reason, self.outer) if reason else Legal()

    def is_sum(self, module: Module) -> bool:
        """Whether the two loops are used as a sum only, so that nothing needs to be divided."""
        outer, inner = find_loop(module, self.outer), find_loop(module, self.inner)
        return outer is not None and inner is not None and isinstance(_affine(module, outer, inner), For)

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        outer, inner = find_loop(module, self.outer), find_loop(module, self.inner)
        if outer is None or inner is None:
            raise IllegalPassError(f"loop_fuse: there is no nest '{self.outer}', '{self.inner}'")
        affine = _affine(module, outer, inner)
        if isinstance(affine, For):
            return dataclasses.replace(module, body=replace_stmt(module.body, outer, affine))
        fused = outer.sym.fresh(f"{outer.sym.name}.{inner.sym.name}")
        count, index = const(int_value(inner.hi) or 1, outer.dtype), Var(fused, outer.dtype)
        lets = (Let(outer.sym, Binary("div", index, count)), Let(inner.sym, Binary("mod", index, count)))
        one, zero = const(1, outer.dtype), const(0, outer.dtype)
        new = For(
            fused, outer.dtype, zero, Binary("mul", outer.hi, count), one, (*lets, *outer.body[:-1], *inner.body), outer.axis, outer.loc
        )
        return dataclasses.replace(module, body=replace_stmt(module.body, outer, new))


def _reason(module: Module, outer: For, inner: For) -> str:
    """Why the two cannot be one loop, either way; empty when they can."""
    return "" if isinstance(_affine(module, outer, inner), For) else _why_not(module, outer, inner)


def _affine(module: Module, outer: For, inner: For) -> For | str:
    try:
        return fused_affine(module, outer, inner)
    except NotAffine as error:
        return str(error)


def _why_not(module: Module, outer: For, inner: For) -> str:
    env = env_at(module, outer)
    if any(not isinstance(s, Let) or not env.stable(s.value) for s in outer.body[:-1]):
        return "something else stands between the loops"
    if outer.axis is not inner.axis:
        return "the loops are bound to different axes"
    if outer.dtype is not inner.dtype:
        return "the loop variables have different types"
    counts = [int_value(e) for e in (outer.lo, outer.step, inner.lo, inner.step)]
    if counts != [0, 1, 0, 1]:
        return "a loop does not run from 0 in steps of one"
    trips = int_value(inner.hi)
    if trips is None or trips < 1:
        return "the inner loop has no literal positive count"
    whole = env.range_of(outer.hi).hi
    if whole is None or whole * trips > outer.dtype.max_int:
        return "the product of the counts is not known to fit the loop variable"
    return "a loop is left by break" if breaks(outer.body) or breaks(inner.body) else ""
