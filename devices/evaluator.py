"""Earning evidence by running programs: the source text is the oracle, candidates are held against what it did.

``prepare`` and ``evaluate`` are what a worker does, in this process or in a Ray actor; ``InProcessEvaluator`` calls them here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from devices.device import Device, Program
from devices.evaluation import Candidate, Evaluation, Problem
from devices.registry import find_device
from devices.status import Status
from synth.evidence.cases import Array, TestCase
from synth.evidence.compare import Comparison, compare
from synth.evidence.conditioning import neighbours, slack
from synth.evidence.controls import weaknesses
from synth.evidence.tolerance import Tolerance


@dataclass(frozen=True, slots=True)
class Oracle:
    """What the source did. ``status`` is OK when every required case ran; then ``outputs[i]`` are the buffers after ``cases[i]``.

    ``dropped`` counts optional cases on which the source itself failed; ``weak`` lists outputs on which negative controls would not be
    noticed."""

    status: Status
    cases: tuple[TestCase, ...] = ()
    outputs: tuple[dict[str, Array], ...] = ()
    tolerances: dict[str, Tolerance] = field(default_factory=dict)
    reason: str = ""
    dropped: int = 0
    weak: tuple[str, ...] = ()
    device: str = ""
    wall_seconds: float = 0.0
    problem: Problem | None = None


def prepare(problem: Problem, device: Device) -> Oracle:
    """Builds the source and runs it on every case. Never raises for what the program does."""
    started = time.monotonic()
    name = f"{device.spec.name} ({device.kind})"
    build = device.build(problem.source)
    if build.status is not Status.OK:
        return Oracle(build.status, reason=f"the source does not build on {name}: {_excerpt(build.log)}", device=name)
    runs = device.run(build, problem.cases, problem.timeout)
    failed = next(((c, r) for c, r in zip(problem.cases, runs, strict=True) if r.status is not Status.OK and not c.optional), None)
    if failed is not None:
        case, run = failed
        reason = f"the source itself fails on {name}, input '{case.family}'{_sizes(case)}: {run.status.value}: {_excerpt(run.log)}"
        return Oracle(run.status, reason=reason, device=name)
    # Sizes at which the source fails once are not sizes it is written for, even where another input hides it.
    invalid = [case.sizes for case, run in zip(problem.cases, runs, strict=True) if run.status is not Status.OK]
    kept = [(case, run) for case, run in zip(problem.cases, runs, strict=True) if run.status is Status.OK and case.sizes not in invalid]
    cases, outputs = tuple(case for case, _ in kept), tuple(run.outputs for _, run in kept)
    if not cases:
        return Oracle(Status.UNSUPPORTED, reason="the source fails on every input that was synthesised", device=name)
    return Oracle(
        Status.OK,
        cases,
        outputs,
        problem.tolerances,
        dropped=len(problem.cases) - len(kept),
        weak=weaknesses(cases, outputs, problem.tolerances),
        device=name,
        wall_seconds=time.monotonic() - started,
        problem=problem,
    )


def evaluate(oracle: Oracle, candidate: Candidate, device: Device, timeout: float) -> Evaluation:
    """Builds a candidate, runs it on the oracle's cases, compares, and times it on the largest case when asked and right."""
    started = time.monotonic()

    def outcome(status: Status, reason: str = "", seconds: float | None = None, details: dict[str, Any] | None = None) -> Evaluation:
        return Evaluation(candidate.key, status, reason, seconds, details or {}, time.monotonic() - started)

    build = device.build(candidate.program)
    if build.status is not Status.OK:
        return outcome(build.status, _excerpt(build.log))
    runs = device.run(build, oracle.cases, timeout)
    worst: dict[str, float] = {}
    ill_conditioned: list[str] = []
    for case, run, reference in zip(oracle.cases, runs, oracle.outputs, strict=True):
        if run.status is not Status.OK:
            return outcome(run.status, f"input '{case.family}'{_sizes(case)}: {_excerpt(run.log)}")
        comparison = compare(reference, run.outputs, case, oracle.tolerances)
        if not comparison.ok:
            again = _within_conditioning(oracle, case, reference, run.outputs, timeout)
            if again is not None and again.ok:
                comparison = again
                ill_conditioned.append(case.family)
        if not comparison.ok:
            return outcome(
                Status.MISMATCH, f"input '{case.family}'{_sizes(case)}: {comparison.reason}", details=_mismatch(case, comparison)
            )
        for name, error in comparison.errors.items():
            worst[name] = max(worst.get(name, 0.0), error)
    details = {"worst_relative_error": worst, "cases": len(oracle.cases), "device": f"{device.spec.name} ({device.kind})"}
    if ill_conditioned:
        details["ill_conditioned"] = sorted(set(ill_conditioned))
    if not candidate.timed or device.kind != "hardware":
        return outcome(Status.OK, details=details)
    case = max(oracle.cases, key=lambda c: sum(getattr(a, "count", 0) for a in c.args))
    timing = device.time(build, case, timeout)
    if timing.status is not Status.OK:
        return outcome(timing.status, f"timing: {_excerpt(timing.log)}", details=details)
    details |= {"timing_protocol": timing.protocol, "samples": len(timing.samples), "timed_sizes": case.sizes}
    return outcome(Status.OK, seconds=timing.median, details=details)


def _within_conditioning(
    oracle: Oracle, case: TestCase, reference: dict[str, Array], outputs: dict[str, Array], timeout: float
) -> Comparison | None:
    """The comparison with what the source itself makes of inputs a few roundings off; None where that cannot be measured."""
    if oracle.problem is None:
        return None
    device = source_device(oracle.problem)
    build = device.build(oracle.problem.source)
    if build.status is not Status.OK:
        return None
    runs = device.run(build, neighbours(case), timeout)
    if any(run.status is not Status.OK for run in runs):
        return None
    return compare(reference, outputs, case, oracle.tolerances, slack(reference, [run.outputs for run in runs], case))


def _mismatch(case: TestCase, comparison: Comparison) -> dict[str, Any]:
    return {"family": case.family, "sizes": case.sizes, "seed": case.seed, "worst_relative_error": comparison.errors}


def _sizes(case: TestCase) -> str:
    return f" ({', '.join(f'{name}={value}' for name, value in case.sizes.items())})" if case.sizes else ""


def _excerpt(log: str, lines: int = 6) -> str:
    """The telling part of a log: its first lines."""
    kept = [line for line in log.strip().splitlines() if line.strip()]
    return "\n".join(kept[:lines]) or "no output"


@dataclass(slots=True)
class InProcessEvaluator:
    """Evaluates in this process, one candidate after the other. ``oracle`` is prepared on first use."""

    problem: Problem
    _oracle: Oracle | None = None

    @property
    def parallelism(self) -> int:
        return 1

    def oracle(self) -> Oracle:
        """What the source did; runs it the first time."""
        if self._oracle is None:
            self._oracle = prepare(self.problem, source_device(self.problem))
        return self._oracle

    def evaluate(self, candidates: Sequence[Candidate]) -> tuple[Evaluation, ...]:
        """One evaluation per candidate, in order. Precondition: the oracle is OK."""
        return tuple(evaluate(self.oracle(), c, candidate_device(self.problem, c.program), self.problem.timeout) for c in candidates)

    def close(self) -> None:
        """Nothing is held."""


def source_device(problem: Problem) -> Device:
    """Where the oracle runs: strict arithmetic."""
    return find_device(problem.source.dialect, problem.source_target, oracle=True)


def candidate_device(problem: Problem, program: Program) -> Device:
    """Where candidates run: built as a user would."""
    return find_device(program.dialect, problem.target)
