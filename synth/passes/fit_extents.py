"""``fit_extents``: parameters are as long as the program needs, now that it is simpler than when their extents were derived."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.extents import accessed_extent
from synth.analysis.linear import module_env
from synth.errors import IllegalPassError
from synth.ir.grammar import Launch, Module, Param, Space
from synth.ir.traversal import walk
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class FitExtents:
    """Asks for no more memory of the caller than is accessed: what copies to a device take is what the caller must have.

    Before: ``f(A: f32[n + 1])``, of which ``A[0] .. A[n - 1]`` are accessed    After: ``f(A: f32[n])``
    """

    name: ClassVar[str] = "fit_extents"
    buf: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Parameters that can be shorter."""
        return tuple(cls(p.sym.name) for p in module.params if p.is_buffer and not isinstance(_fitted(module, p), str))

    # No access of the parameter is at or beyond the new extent, which is not above the old one.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = self._find(module)
        return Illegal(found, self.buf) if isinstance(found, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._find(module)
        if isinstance(found, str):
            raise IllegalPassError(f"fit_extents: {found}")
        return dataclasses.replace(module, params=tuple(found if p.sym == found.sym else p for p in module.params))

    def _find(self, module: Module) -> Param | str:
        param = next((p for p in module.params if p.is_buffer and p.sym.name == self.buf), None)
        return f"there is no pointer '{self.buf}'" if param is None else _fitted(module, param)


def _fitted(module: Module, param: Param) -> Param | str:
    if not param.shape or param.space is not Space.HOST or any(isinstance(s, Launch) for s in walk(module.body)):
        return f"'{param.sym.name}' is not in memory of the host, or launches access it"
    extent, env = accessed_extent(module, param), module_env(module)
    if extent is None:
        return f"it is not known which elements of '{param.sym.name}' are accessed"
    if not env.always_positive(env.normal(param.shape[0]) - env.normal(extent)):
        return f"'{param.sym.name}' is not known to be longer than needed"
    return dataclasses.replace(param, shape=(extent,))
