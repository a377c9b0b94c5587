"""Verification of two programs: the first is the reference, the second is held against it by L0 and L1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devices.evaluation import Candidate
from devices.evaluator import InProcessEvaluator
from devices.status import Status
from search.store import content_key
from synth.errors import Diagnostic, UnsupportedError
from synth.evidence.l0 import earn_l0
from synth.evidence.levels import Evidence
from synth.ir.grammar import Module
from synth.source import Source
from synth.spec import find_spec
from xpiler.options import Options
from xpiler.results import Result, ResultStatus
from xpiler.translation import Clock, l1_finding, problem_for, program_of, read_module, verdict, without_evidence


def verify_sources(a: Source, b: Source, options: Options, progress: Callable[[str], None] = lambda _: None) -> Result:
    """Whether ``b`` computes what ``a`` does. Raises XpilerError for bad input."""
    clock = Clock(progress)
    clock.stage("read", f"reading {a.filename} and {b.filename}")
    read_a = read_module(a, options)
    read_b = read_module(b, _reading_second(options), read_a.module)
    first, second = read_a.module, read_b.module
    _same_interface(first, second, b.filename)
    spec = find_spec(b.dialect, options.target)
    if spec is None:
        raise UnsupportedError(f"there is no target for dialect {b.dialect} in this version")
    clock.stage("oracle", "synthesising unit tests and running the reference")
    evaluator = InProcessEvaluator(problem_for(a, read_a, spec, options))
    oracle = evaluator.oracle()

    def result(status: ResultStatus, evidence: Evidence, *more: Diagnostic) -> Result:
        notes = (*read_a.diagnostics, *read_b.diagnostics, *more)
        return Result(
            status, a.filename, a.dialect, b.dialect, spec.name, first.name, None, evidence, options.evidence, (), clock.stop(), notes
        )

    if oracle.status is not Status.OK:
        return result(without_evidence(oracle.status), Evidence(), Diagnostic("error", oracle.reason))
    clock.stage("evaluate", "running the other program")
    program = program_of(b, read_b, options)
    (evaluation,) = evaluator.evaluate((Candidate(content_key(b.text, b.dialect), program),))
    clock.stage("prove", "bounds, races and limits")
    evidence = Evidence((earn_l0(first, second, spec, find_spec(a.dialect, options.read.source_target)), l1_finding(oracle, evaluation)))
    return result(verdict(evidence, options.evidence, evaluation), evidence)


def _reading_second(options: Options) -> Options:
    """The second program is one for ``--target``."""
    return replace(options, read=replace(options.read, source_target=options.target))


def _same_interface(first: Module, second: Module, filename: str) -> None:
    def kinds(module: Module) -> list[str]:
        return [f"{p.dtype}{'*' if p.is_buffer else ''}" for p in module.params]

    if kinds(first) != kinds(second):
        raise UnsupportedError(
            f"{filename}: the two entries take different parameters: ({', '.join(kinds(first))}) and ({', '.join(kinds(second))})",
            hint="choose the entries with --entry, or give both the same signature",
        )
