"""Passes that this version registers and always refuses: they have no target yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.grammar import Module
from synth.passes.base import Illegal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class _Unavailable:
    """Refuses everywhere and says why."""

    name: ClassVar[str] = ""
    why: ClassVar[str] = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Nothing."""
        return ()

    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        return Illegal(f"{self.name} is not available in this version: {self.why}")

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        raise IllegalPassError(f"{self.name} is not available in this version: {self.why}")


@dataclass(frozen=True, slots=True)
class Pipeline(_Unavailable):
    """Overlaps copies with computation by double buffering (refused: no target with asynchronous copies yet)."""

    name: ClassVar[str] = "pipeline"
    why: ClassVar[str] = "no target with asynchronous copies is generated"


@dataclass(frozen=True, slots=True)
class Tensorize(_Unavailable):
    """Replaces a loop nest by a tensor intrinsic (refused: no tensor intrinsics are described yet)."""

    name: ClassVar[str] = "tensorize"
    why: ClassVar[str] = "no tensor intrinsics are described"


@dataclass(frozen=True, slots=True)
class Detensorize(_Unavailable):
    """Replaces a tensor intrinsic by the loop nest that it means (refused: no tensor intrinsics are described yet)."""

    name: ClassVar[str] = "detensorize"
    why: ClassVar[str] = "no tensor intrinsics are described"
