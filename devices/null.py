"""A device for tests: it builds and runs nothing, and answers as its script says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devices.build_cache import digest
from devices.device import Build, Program, Run, Timing
from devices.status import Status
from synth.evidence.cases import TestCase
from synth.spec import DeviceSpec

Behaviour = Callable[[TestCase], Run]


@dataclass(frozen=True, slots=True)
class NullDevice:
    """``scripts`` maps a program's text to what running it does; a text without a script does not compile. ``seconds`` is what every timed
    call takes."""

    spec: DeviceSpec
    scripts: dict[str, Behaviour]
    seconds: float = 1e-3
    kind: str = "null"

    def build(self, program: Program) -> Build:
        key = digest(["null", program.text, program.entry])
        if program.text not in self.scripts:
            return Build(Status.COMPILE_ERROR, key, None, f"{program.filename}:1: no script for this text: {program.text[:200]}")
        # the path names the content, as a real build's does, but there is no file; the text travels in the log
        return Build(Status.OK, key, Path("/nonexistent") / key, program.text)

    def run(self, build: Build, cases: tuple[TestCase, ...], timeout: float) -> tuple[Run, ...]:
        if build.path is None:
            return tuple(Run(build.status, {}, build.log) for _ in cases)
        return tuple(self.scripts[build.log](case) for case in cases)

    def time(self, build: Build, case: TestCase, timeout: float) -> Timing:
        if build.path is None:
            return Timing(build.status, (), "", build.log)
        run = self.run(build, (case,), timeout)[0]
        return Timing(Status.OK, (self.seconds,) * 5, "scripted, after one warm-up call") if run.status is Status.OK else Timing(run.status)
