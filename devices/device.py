"""The Device protocol and the data it exchanges. A device builds and runs programs of one dialect."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from devices.status import Status
from synth.evidence.cases import Array, TestCase
from synth.ir.grammar import Param
from synth.source import LaunchShape
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Program:
    """Source text of one dialect and the entry to call. ``launch`` is set when ``entry`` is a bare kernel; ``defines`` are ``-D``;
    ``headers`` are the user's own, by the name in the ``#include "..."``."""

    text: str
    dialect: str
    entry: str
    params: tuple[Param, ...]
    defines: dict[str, str] = field(default_factory=dict)
    launch: LaunchShape | None = None
    filename: str = "source"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Build:
    """The outcome of a build: ``path`` of the executable when ``status`` is OK, else ``log`` says why. ``key`` addresses the content."""

    status: Status
    key: str
    path: Path | None = None
    log: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of one call: the buffers after it by parameter name (inputs too, so that stray writes are seen)."""

    status: Status
    outputs: dict[str, Array] = field(default_factory=dict)
    log: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall-clock seconds of one call, by the stated protocol: warm-up calls, then ``samples`` measured calls. Empty unless OK."""

    status: Status
    samples: tuple[float, ...] = ()
    protocol: str = ""
    log: str = ""

    @property
    def median(self) -> float | None:
        ordered = sorted(self.samples)
        return ordered[len(ordered) // 2] if ordered else None


class Device(Protocol):
    """``kind`` is ``hardware``, ``emulated`` or ``null``. ``build``, ``run`` and ``time`` never raise for what a program does."""

    @property
    def spec(self) -> DeviceSpec: ...

    @property
    def kind(self) -> str: ...

    def build(self, program: Program) -> Build:
        """Compiles; content-addressed, so that the same text is built once."""
        ...

    def run(self, build: Build, cases: tuple[TestCase, ...], timeout: float) -> tuple[Run, ...]:
        """Calls the entry once per case in a sandboxed process, outputs poisoned, red zones around every buffer."""
        ...

    def time(self, build: Build, case: TestCase, timeout: float) -> Timing:
        """Measures one case. A ``Timing`` of an emulated device is never speed; callers check ``kind``."""
        ...
