"""What a pass is.

A pass is a frozen dataclass whose fields are its parameters (``str``, ``int``, ``bool`` or tuples of these, so that it prints and
parses). One instance is one *application*: a pass at a site with its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

from synth.ir.grammar import Module
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Legal:
    """The step preserves meaning. ``assuming`` lists what it relies on beyond the program text ("reals": reassociation)."""

    assuming: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Illegal:
    """The step is refused: a reason a person can act on, and the site it is about."""

    reason: str
    site: str = ""

    def __bool__(self) -> bool:
        return False


Verdict = Legal | Illegal


@runtime_checkable
class Pass(Protocol):
    """The whole interface of a pass; search, LLM, command line and tests use nothing else."""

    name: ClassVar[str]

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """The applications worth proposing here; each is likely, not certain, to pass ``check``."""
        ...

    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        """Whether the application preserves the meaning of ``module``. What cannot be proved is ``Illegal``."""
        ...

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        """The transformed module. Precondition: ``check`` says ``Legal``."""
        ...
