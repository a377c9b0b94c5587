"""``loop_reorder``: two nested loops change places."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import can_interchange
from synth.analysis.speculation import is_harmless
from synth.errors import IllegalPassError
from synth.ir.grammar import For, Let, Load, Module, Var
from synth.ir.traversal import find_loop, loops, replace_stmt, walk_expr
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.loop_split import breaks
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class LoopReorder:
    """Interchanges two nested loops.

    Before: ``for i { for k { C[i] = C[i] + A[i, k] } }``    After: ``for k { for i { C[i] = C[i] + A[i, k] } }``
    """

    name: ClassVar[str] = "loop_reorder"
    outer: str
    inner: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Nests of two serial loops with nothing but definitions between them."""
        sites = {id(loop): site for site, loop in loops(module).items()}
        return tuple(
            cls(site, sites[id(loop.body[-1])])
            for site, loop in loops(module).items()
            if loop.axis is None and loop.body and isinstance(loop.body[-1], For) and loop.body[-1].axis is None and _sunk(loop)
        )

    # The iterations of the outer loop are independent (accumulations apart, which reorder over the reals): then no dependence has a
    # direction (<, >) that the interchange could reverse; and the inner bounds do not depend on the outer loop. Definitions between the
    # loops load nothing, so they may be evaluated again in each inner iteration.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        outer, inner = find_loop(module, self.outer), find_loop(module, self.inner)
        if outer is None or inner is None:
            return Illegal(f"there is no loop '{self.inner if outer else self.outer}'", self.outer)
        if outer.axis is not None or inner.axis is not None:
            return Illegal("a loop is bound to an axis", self.outer)
        if not outer.body or outer.body[-1] is not inner:
            return Illegal(f"'{self.inner}' is not the last statement of '{self.outer}'", self.outer)
        nest = _sunk(outer)
        if nest is None:
            return Illegal(f"something else stands between '{self.outer}' and '{self.inner}', or the inner bounds depend on it", self.outer)
        if breaks(outer.body) or breaks(inner.body):
            return Illegal("a loop is left by break", self.outer)
        if not is_harmless(inner.lo, inner.hi, inner.step):
            return Illegal(f"the bounds of '{self.inner}' may fail where '{self.outer}' has no iterations", self.outer)
        sunk = dataclasses.replace(module, body=replace_stmt(module.body, outer, nest))
        proof = can_interchange(sunk, nest, next(s for s in nest.body if isinstance(s, For)))
        if not proof:
            return Illegal(proof.reason, self.outer)
        return Legal(("reals",)) if proof.reductions else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        outer = find_loop(module, self.outer)
        nest = _sunk(outer) if outer else None
        if outer is None or nest is None or not isinstance(nest.body[0], For):
            raise IllegalPassError(f"loop_reorder: there is no nest '{self.outer}', '{self.inner}'")
        inner = nest.body[0]
        new = dataclasses.replace(inner, body=(dataclasses.replace(nest, body=inner.body),))
        return dataclasses.replace(module, body=replace_stmt(module.body, outer, new))


def _sunk(outer: For) -> For | None:
    """The outer loop with the definitions before its inner loop moved into it, so that the nest is perfect."""
    *lets, inner = outer.body
    if not isinstance(inner, For):
        return None
    if any(not isinstance(s, Let) or any(isinstance(e, Load) for e in walk_expr(s.value)) for s in lets):
        return None
    defined = {s.sym for s in lets if isinstance(s, Let)}
    if any(isinstance(e, Var) and e.sym in defined for x in (inner.lo, inner.hi, inner.step) for e in walk_expr(x)):
        return None
    return dataclasses.replace(outer, body=(dataclasses.replace(inner, body=(*lets, *inner.body)),))
