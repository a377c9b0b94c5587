"""A toy program space for tests of strategies: a module is a counter, passes set it, and nothing is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from search.action import Action
from search.proposer import Proposal
from synth.ir.builder import i32
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Module, Space, Store, Sym
from synth.passes.base import Legal, Verdict
from synth.spec import SPECS, DeviceSpec

SPEC = SPECS["avx512_vnni"]
_X = Sym("x")


def program(value: int) -> Module:
    return Module("toy", (), (Alloc(_X, DType.I32, (), Space.LOCAL), Store(_X, (), i32(value))))


def value_of(module: Module) -> int:
    store = module.body[1]
    assert isinstance(store, Store)
    return int(store.value.value)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class Append:
    """Appends a decimal digit."""

    name: ClassVar[str] = "append"
    digit: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Append, ...]:
        return tuple(cls(d) for d in range(1, 4))

    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        return dataclasses.replace(module, body=program(value_of(module) * 10 + self.digit).body)


@dataclass(frozen=True, slots=True)
class FixedProposer:
    """Single-digit actions with the given priors."""

    priors: Sequence[float] = (0.5, 0.3, 0.2)
    name: str = "fixed"

    def propose(self, module: Module, spec: DeviceSpec, limit: int) -> tuple[Proposal, ...]:
        return tuple(Proposal(Action(Append, (("digit", d + 1),)), p) for d, p in enumerate(self.priors))[:limit]
