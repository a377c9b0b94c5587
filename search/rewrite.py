"""A program that a model rewrote under one pass, as an application of the tree.

Such a step is not proved: what is known about it comes from tests alone, and its verdict says so. It got here through the IR gate, so
the step holds our reading of the answer, not the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from synth.ir.grammar import Module
from synth.passes.base import Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class ModelRewrite:
    """Replaces the program by a model's rewriting of it under the pass ``under``; ``digest`` names the text in the record store."""

    name: ClassVar[str] = "model_rewrite"
    under: str
    digest: str
    module: Module = field(repr=False, compare=False)

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[ModelRewrite, ...]:
        """Nothing by itself: a rewriting comes from a model."""
        return ()

    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        return Legal(("tests",))

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        return self.module
