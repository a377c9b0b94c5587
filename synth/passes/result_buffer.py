"""``result_buffer``: an output that the entry computes wholly is computed in memory of its own, and copied at the end."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.assignment import wholly_written
from synth.errors import IllegalPassError
from synth.ir.builder import cast, const
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Call, Module, Param, Region, Space
from synth.ir.traversal import rename_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class ResultBuffer:
    """Says that nothing of what the caller left in an output is kept, so that no device needs it.

    Before: ``for i in 0..n { C[i] = f(i) }``
    After:  ``alloc C.result[n]; for i in 0..n { C.result[i] = f(i) }; host.copy(C, C.result)``
    """

    name: ClassVar[str] = "result_buffer"
    buf: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Outputs that qualify, for targets with memory of their own."""
        if spec.max_threads_per_block <= 1:
            return ()
        return tuple(cls(p.sym.name) for p in module.params if not _why_not(module, p))

    # The entry has one end, at which it has written every element, and it reads no element before it has written it: what the caller sees
    # is what the entry wrote. Other parameters do not overlap with it.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        param = next((p for p in module.params if p.sym.name == self.buf), None)
        if param is None:
            return Illegal(f"there is no parameter '{self.buf}'", self.buf)
        reason = _why_not(module, param)
        return Illegal(reason, self.buf) if reason else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        param = next((p for p in module.params if p.sym.name == self.buf), None)
        if param is None or not param.shape:
            raise IllegalPassError(f"result_buffer: there is no parameter '{self.buf}'")
        own = param.sym.fresh(f"{param.sym.name}.result")
        extent = cast(param.shape[0], DType.I64)
        alloc = Alloc(own, param.dtype, (extent,), Space.HOST)
        there, here = (Region(s, (const(0, DType.I64),), (extent,)) for s in (param.sym, own))
        body = (alloc, *rename_buffers(module.body, {param.sym: own}), Call("host.copy", (there,), (here,)))
        return dataclasses.replace(module, body=body)


def _why_not(module: Module, param: Param) -> str:
    if not param.is_buffer or not param.shape or param.const or param.space is not Space.HOST:
        return f"'{param.sym.name}' is no output in memory of the host"
    if any(isinstance(s, Call) and any(r.buf == param.sym for r in s.dests) for s in module.body):
        return f"'{param.sym.name}' is copied to: its memory is not written but at the end"
    if not wholly_written(module, param):
        return f"'{param.sym.name}' may keep elements that the caller left in it, or is read before it is written"
    return ""
