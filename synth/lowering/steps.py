"""A module under way and the steps taken: what every lowering is written with."""

from __future__ import annotations

from dataclasses import dataclass

from synth.ir.grammar import Module
from synth.passes.base import Illegal, Pass
from synth.passes.registry import get
from synth.passes.trace import Trace
from synth.spec import DeviceSpec

LIMIT = 200  # applications of one pass in a row: a pass that proposes for ever is a defect, not a reason to hang


@dataclass(slots=True)
class Lowering:
    """``refusal`` is the reason why the last refused step was refused."""

    module: Module
    spec: DeviceSpec
    trace: Trace = ()
    refusal: str = ""

    def attempt(self, step: Pass) -> bool:
        """Applies a step if it is legal and changes something."""
        verdict = step.check(self.module, self.spec)
        if isinstance(verdict, Illegal):
            self.refusal = verdict.reason
            return False
        new = step.apply(self.module, self.spec)
        if new == self.module:
            return False
        self.module, self.trace = new, (*self.trace, step)
        return True

    def everywhere(self, name: str) -> None:
        """Applies a pass wherever it proposes itself, until it proposes nothing legal."""
        pass_type = get(name)
        for _ in range(LIMIT):
            if not any(self.attempt(step) for step in pass_type.space(self.module, self.spec)):
                return

    def progress(self, name: str) -> bool:
        """``everywhere``, and whether it changed something."""
        before = len(self.trace)
        self.everywhere(name)
        return len(self.trace) > before

    def saved(self) -> tuple[Module, Trace]:
        """What ``restore`` takes."""
        return self.module, self.trace

    def restore(self, saved: tuple[Module, Trace]) -> None:
        self.module, self.trace = saved
