"""``unroll``: the body of a short loop, once per iteration."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.builder import const, int_value
from synth.ir.grammar import For, Module, Stmt
from synth.ir.traversal import find_loop, loops, refresh, replace_stmt, substitute, walk
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.loop_split import breaks, continues
from synth.spec import DeviceSpec

LIMIT = 32
STATEMENTS = 400


@dataclass(frozen=True, slots=True)
class Unroll:
    """Replaces a loop with a literal count by its iterations.

    Before: ``for k in 0..2 { S(k) }``    After: ``S(0) S(1)``
    """

    name: ClassVar[str] = "unroll"
    site: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Innermost loops of at most ``LIMIT`` iterations."""
        return tuple(
            cls(site)
            for site, loop in loops(module).items()
            if loop.axis is None and not any(isinstance(s, For) for s in walk(loop.body)) and 1 < (_count(loop) or 0) <= LIMIT
        )

    # The iterations in their order.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None:
            return Illegal(f"there is no loop '{self.site}'", self.site)
        count = _count(loop)
        if loop.axis is not None or count is None or breaks(loop.body) or continues(loop.body):
            return Illegal(f"loop '{self.site}' is not a plain serial loop with a literal count", self.site)
        if count > LIMIT or count * sum(1 for _ in walk(loop.body)) > STATEMENTS:
            return Illegal(f"loop '{self.site}' is too long to unroll", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        count = _count(loop) if loop else None
        if loop is None or count is None:
            raise IllegalPassError(f"unroll: there is no loop '{self.site}' with a literal count")
        lo, step = int_value(loop.lo) or 0, int_value(loop.step) or 1
        out: list[Stmt] = []
        for number in range(count):
            out += refresh(substitute(loop.body, {loop.sym: const(lo + number * step, loop.dtype)}))
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, tuple(out)))


def _count(loop: For) -> int | None:
    lo, hi, step = (int_value(e) for e in (loop.lo, loop.hi, loop.step))
    if lo is None or hi is None or not step:
        return None
    return max(0, -(-(hi - lo) // step))
