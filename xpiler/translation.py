"""Translation, from a source text to a result with evidence: the rooms wired together in the order of the stages."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from devices.device import Program
from devices.evaluation import Candidate, Evaluation, Problem
from devices.evaluator import InProcessEvaluator, Oracle
from devices.status import Status
from search.budget import Budget
from search.driver import Completed, Driver, SearchResult, Visit
from search.mcts import Mcts
from search.proposer import Proposer, RankedProposer, SymbolicProposer
from search.random_search import RandomSearch
from search.store import Store, content_key
from search.strategy import Strategy
from search.tree import Tree
from search.tuning import Tuner
from synth import codegen, frontend
from synth.analysis.extents import complete_params, overestimated
from synth.errors import Diagnostic, UnsupportedError, UsageError
from synth.evidence.l0 import earn_l0
from synth.evidence.levels import Evidence, Finding, Level, Outcome
from synth.evidence.tolerance import tolerances
from synth.evidence.vectors import synthesise
from synth.ir import verifier
from synth.ir.grammar import Expr, Module, Space, Sym, Var
from synth.ir.traversal import substitute_expr
from synth.lowering.report import structure
from synth.lowering.sizes import complete_sizes
from synth.lowering.targets import target_of
from synth.passes.base import Pass
from synth.passes.trace import print_step
from synth.source import ReadResult, Source
from synth.spec import DEFAULT_TARGET, DeviceSpec, find_spec
from xpiler.options import Options
from xpiler.results import Result, ResultStatus, TuningReport
from xpiler.rewriting import RewritingProposer

LLM_EVALUATIONS = 8  # what --llm explores when no --tune says how long
DEFAULT_RECORDS = "xpiler-records"

Stage = Callable[[str], None]


def _silent(_: str) -> None:
    return None


@dataclass(slots=True)
class Clock:
    """Seconds by stage."""

    progress: Stage
    seconds: dict[str, float] = field(default_factory=dict)
    _started: float = field(default_factory=time.monotonic)
    _stage: str = ""
    _stage_started: float = 0.0

    def stage(self, name: str, message: str) -> None:
        self.stop()
        self._stage, self._stage_started = name, time.monotonic()
        self.progress(message)

    def stop(self) -> dict[str, float]:
        now = time.monotonic()
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._stage_started
            self._stage = ""
        self.seconds["total"] = now - self._started
        return self.seconds


def read_module(source: Source, options: Options, like: Module | None = None) -> ReadResult:
    """The verified module of a source, its buffers' extents and roles known. What a source does not say of its buffers' extents is taken
    from the parameters of ``like``, an entry with the same interface. Raises XpilerError."""
    result = frontend.read(source, options.read)
    spec = find_spec(source.dialect, options.read.source_target)
    stated = result.module if like is None else _with_extents_of(like, result.module)
    module = complete_sizes(stated, spec) if spec else complete_params(stated)
    verifier.check(module)
    derived = {p.sym for p in result.module.params if p.is_buffer and not p.shape}
    uncertain = tuple(p.sym.name for p in module.params if p.sym in overestimated(module) & derived)
    return replace(result, module=module, uncertain=uncertain)


def _with_extents_of(like: Module, module: Module) -> Module:
    """The module with the extents of another entry, parameter by parameter, where it states none."""
    if len(like.params) != len(module.params):
        return module
    values: dict[Sym, Expr] = {a.sym: Var(b.sym, b.dtype) for a, b in zip(like.params, module.params, strict=True)}
    params = []
    for a, b in zip(like.params, module.params, strict=True):
        shape = tuple(substitute_expr(e, values) for e in a.shape or ())
        params.append(replace(b, shape=shape) if shape and b.shape == () else b)
    return replace(module, params=tuple(params))


def program_of(source: Source, read: ReadResult, options: Options) -> Program:
    """What a device is given to run a source text: its own, less the bodies of functions that the entry does not reach."""
    module, text = read.module, read.reached or source.text
    o = options.read
    entry = o.entry if o.entry is not None and "<" in o.entry else module.name  # an instantiation is called by its full name
    return Program(text, source.dialect, entry, module.params, o.defines, o.launch, source.filename, read.headers)


def problem_for(source: Source, read: ReadResult, target: DeviceSpec, options: Options) -> Problem:
    """The unit tests of a source, from the source alone. Raises UnsupportedError when they cannot be made."""
    source_target = options.read.source_target or DEFAULT_TARGET[source.dialect]
    cases = synthesise(read.module, options.read, options.seed)
    return Problem(program_of(source, read, options), source_target, target.name, cases, tolerances(read.module))


def translate_source(source: Source, to: str, options: Options, progress: Stage = _silent) -> Result:
    """Translates; every failure of the program or the translation is a ``Result``. Raises XpilerError for bad input."""
    clock = Clock(progress)
    spec = _target(to, options)
    clock.stage("read", f"reading {source.filename} ({source.dialect})")
    read = read_module(source, options)
    if read.uncertain and to != "vnni":
        raise UnsupportedError(
            f"the extent of parameter '{read.uncertain[0]}' is not certain: lanes are masked by a condition that is not understood, and a "
            "copy to the device might go beyond the caller's memory",
            hint=f"give it with --extent {read.uncertain[0]}=EXPR",
        )
    job = _Job(source, to, spec, options, read, clock)
    with ExitStack() as stack:
        return job.run(stack)


def _target(to: str, options: Options) -> DeviceSpec:
    target_of(to)  # raises where nothing is printed for it
    spec = find_spec(to, options.target)
    if spec is None:
        raise UsageError(f"--target {options.target}: no such target for {to}", hint="see `xpiler devices`")
    return spec


@dataclass(slots=True)
class _Job:
    """One translation under way."""

    source: Source
    to: str
    spec: DeviceSpec
    options: Options
    read: ReadResult
    clock: Clock
    front: tuple[Pass, ...] = ()
    baseline: Completed | None = None
    notes: list[Diagnostic] = field(default_factory=list)

    @property
    def module(self) -> Module:
        return self.read.module

    def run(self, stack: ExitStack) -> Result:
        self.clock.stage("lower", "lowering")
        root, self.front = target_of(self.to).front(self.module, self.spec)
        baseline = self.complete(root, ())
        self.clock.stage("oracle", "synthesising unit tests and running the source")
        problem = problem_for(self.source, self.read, self.spec, self.options)
        evaluator = self._evaluator(problem, stack)
        oracle = evaluator.oracle()
        if oracle.status is not Status.OK:
            return self._result(baseline, Evidence(), without_evidence(oracle.status), extra=Diagnostic("error", oracle.reason))
        self.clock.stage("evaluate", "building and testing the result")
        tuned = self._search(root, evaluator, stack)
        chosen = tuned.best or baseline
        evaluation = tuned.best_evaluation or tuned.baseline
        self.clock.stage("prove", "bounds, races and limits")
        evidence = Evidence((self._l0(chosen.module), l1_finding(oracle, evaluation)))
        status = verdict(evidence, self.options.evidence, evaluation)
        return self._result(chosen, evidence, status, tuning=self._tuning_report(tuned))

    def complete(self, module: Module, steps: tuple[Pass, ...]) -> Completed:
        """The default lowering of what is left, printed. That of the root is asked for twice: before the oracle runs, and as the first
        leaf."""
        if not steps and self.baseline is not None:
            return self.baseline
        final, rest = target_of(self.to).default_lowering(module, self.spec)
        text = codegen.emit(final, self.spec)
        program = Program(text, self.to, final.name, final.params, filename=f"{final.name}{target_of(self.to).suffix}")
        timed = self.options.tune is not None or self.options.llm is not None
        completed = Completed((*self.front, *steps, *rest), final, Candidate(content_key(text, str(timed)), program, timed))
        if not steps:
            self.baseline = completed
        return completed

    def _evaluator(self, problem: Problem, stack: ExitStack) -> Any:
        if self.options.ray is None:
            return InProcessEvaluator(problem)
        from devices.ray_evaluator import RayEvaluator, connect

        connect(self.options.ray, (self.source.dialect, self.to))
        evaluator = RayEvaluator(problem, self.to)
        stack.callback(evaluator.close)
        return evaluator

    def _search(self, root: Module, evaluator: Any, stack: ExitStack) -> SearchResult:
        options = self.options
        if options.tune is not None:
            budget = Budget(seconds=options.tune)
        else:
            budget = Budget(evaluations=LLM_EVALUATIONS if options.llm else 1)
        store = stack.enter_context(Store.open(options.records)) if options.records else None
        run = self._run_key()
        proposer = self._proposer(root, store, run)
        tree = Tree(root, self.spec, proposer)
        strategy: Strategy = RandomSearch(tree, options.seed) if options.strategy == "random" else Mcts(tree)
        driver = Driver(root, self.spec, self.complete, strategy, Tuner(options.seed), evaluator, budget, store, run, self._announce)
        return driver.search()

    def _announce(self, visit: Visit) -> None:
        if visit.sketch:
            status = visit.evaluation.status.value if visit.evaluation else "illegal"
            self.clock.progress(f"  {visit.reward:5.2f}x  {status:10} {visit.sketch}")

    def _proposer(self, root: Module, store: Store | None, run: str) -> Proposer:
        if self.options.llm is None:
            return SymbolicProposer()
        from xpiler.model import connect

        ranker, rewriter = connect(self.options, self.spec, store, run)
        keep = store.put if store else str
        return RewritingProposer(RankedProposer(ranker), rewriter, root, keep, self.notes)

    def _run_key(self) -> str:
        o = self.options
        relevant = (o.read, o.target, o.evidence.value, o.llm, o.model, o.seed, o.strategy)
        return content_key(self.source.text, self.source.dialect, self.to, repr(relevant))

    def _l0(self, final: Module) -> Finding:
        return earn_l0(self.module, final, self.spec, find_spec(self.source.dialect, self.options.read.source_target))

    def _tuning_report(self, tuned: SearchResult) -> TuningReport | None:
        if self.options.tune is None and self.options.llm is None:
            return None
        base = tuned.baseline.seconds_per_call if tuned.baseline else None
        best = tuned.best_evaluation.seconds_per_call if tuned.best_evaluation else None
        proposer = "symbolic" if self.options.llm is None else f"llm ({self.options.llm})"
        explored = tuple(f"{v.reward:.3f} {v.sketch or '(default lowering)'}" for v in tuned.visits)
        reused = sum(1 for v in tuned.visits if v.reused)
        return TuningReport(self.options.strategy, proposer, explored, len(tuned.visits), reused, base / best if base and best else None)

    def _result(
        self,
        chosen: Completed,
        evidence: Evidence,
        status: ResultStatus,
        extra: Diagnostic | None = None,
        tuning: TuningReport | None = None,
    ) -> Result:
        keep = status is ResultStatus.OK or self.options.keep_failed
        return Result(
            status,
            self.source.filename,
            self.source.dialect,
            self.to,
            self.spec.name,
            self.module.name,
            chosen.candidate.program.text if keep else None,
            evidence,
            self.options.evidence,
            tuple(map(print_step, chosen.trace)),
            self.clock.stop(),
            (*self.read.diagnostics, *self.notes, *_pointers_moved(self.module, chosen.module), *((extra,) if extra else ())),
            structure(chosen.module).to_json(),
            tuning,
        )


def _pointers_moved(source: Module, result: Module) -> tuple[Diagnostic, ...]:
    """A note where a bare kernel took device pointers and a result with launches takes host pointers."""
    if result.dialect not in ("cuda", "hip") or not any(p.space is Space.GLOBAL for p in source.params):
        return ()
    if any(p.space is Space.GLOBAL for p in result.params):
        return ()
    return (Diagnostic("note", "the launches were bound anew: the result takes pointers to host memory and copies"),)


def l1_finding(oracle: Oracle, evaluation: Evaluation | None) -> Finding:
    """L1 from a run: shown only when every case agrees and the negative controls would have been noticed."""
    details: dict[str, Any] = {
        "oracle": oracle.device,
        "cases": len(oracle.cases),
        "families": sorted({case.family for case in oracle.cases}),
        "sizes": [case.sizes for case in oracle.cases if case.sizes],
        "dropped_optional_cases": oracle.dropped,
        "tolerances": {name: str(tolerance) for name, tolerance in oracle.tolerances.items()},
    }
    if evaluation is None:
        return Finding(Level.L1, Outcome.NOT_SHOWN, "no candidate was run", details)
    details |= evaluation.details
    if evaluation.status is Status.OK:
        if oracle.weak:
            return Finding(Level.L1, Outcome.NOT_SHOWN, f"the tests are too weak: {'; '.join(oracle.weak)}", details)
        return Finding(Level.L1, Outcome.SHOWN, _l1_summary(oracle, evaluation), details)
    refuted = evaluation.status in (Status.MISMATCH, Status.CRASH, Status.OUT_OF_BOUNDS, Status.RACE, Status.TIMEOUT)
    outcome = Outcome.REFUTED if refuted else Outcome.NOT_SHOWN
    return Finding(Level.L1, outcome, f"{evaluation.status.value}: {evaluation.reason}", details)


def _l1_summary(oracle: Oracle, evaluation: Evaluation) -> str:
    worst = max(evaluation.details.get("worst_relative_error", {}).values(), default=0.0)
    return (
        f"{len(oracle.cases)} inputs agree with the source on {oracle.device}; worst error {worst:.1e} of the output scale; "
        "negative controls refuted"
    )


def verdict(evidence: Evidence, required: Level, evaluation: Evaluation | None) -> ResultStatus:
    """A refutation at any level refutes; else the required level and all below it must be shown, except that an unproved L0 next
    to a shown L1 is stated, not fatal, when L1 was asked for."""
    if evidence.refuted is not None:
        return ResultStatus.REFUTED
    if evidence.shows(required):
        return ResultStatus.OK
    return without_evidence(evaluation.status) if evaluation is not None else ResultStatus.NOT_SHOWN


def without_evidence(status: Status) -> ResultStatus:
    """What a run that earned no evidence comes to: beyond a limit is out of reach (exit status 1), anything else is not shown (3)."""
    return ResultStatus.UNSUPPORTED if status is Status.LIMIT_EXCEEDED else ResultStatus.NOT_SHOWN
