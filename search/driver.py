"""The search loop: strategy asks, tuner fills holes, candidates are completed, printed, evaluated and recorded; rewards go back.

The driver is the only writer of the store and the only one who decides. Evaluations are found again by candidate text, so a killed run
that is started again replays its decisions from the records and repeats no finished evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from devices.evaluation import Candidate, Evaluation
from devices.status import Status
from search.action import Point, Sketch, fill
from search.budget import Budget, Spent
from search.store import Store
from search.strategy import Strategy
from search.tree import Leaf
from search.tuning import Tuner
from synth.errors import UnsupportedError
from synth.ir.grammar import Module
from synth.passes.base import Pass
from synth.passes.trace import print_trace
from synth.spec import DeviceSpec


class Evaluator(Protocol):
    """Evaluates candidates of one problem; answers come in the order of the questions. ``parallelism``: how many at once pay off."""

    @property
    def parallelism(self) -> int: ...

    def evaluate(self, candidates: Sequence[Candidate]) -> tuple[Evaluation, ...]: ...


@dataclass(frozen=True, slots=True)
class Completed:
    """A finished program for a partial trace: the whole trace, the printed text, and the candidate made of it."""

    trace: tuple[Pass, ...]
    module: Module
    candidate: Candidate


Complete = Callable[[Module, tuple[Pass, ...]], Completed]


@dataclass(frozen=True, slots=True)
class Visit:
    """One explored point, in order: what was tried and what came of it. ``evaluation`` is None when a step was illegal there."""

    sketch: str
    trace: str
    reward: float
    evaluation: Evaluation | None
    reused: bool


@dataclass(frozen=True, slots=True)
class SearchResult:
    """``best`` is None when nothing earned the required evidence; ``baseline`` is the default lowering."""

    best: Completed | None
    best_evaluation: Evaluation | None
    baseline: Evaluation | None
    visits: tuple[Visit, ...]
    spent: Spent


@dataclass(slots=True)
class Driver:
    """Runs one search to its budget. ``run`` names it in the store; the same arguments give the same name, hence resume."""

    root: Module
    spec: DeviceSpec
    complete: Complete
    strategy: Strategy
    tuner: Tuner
    evaluator: Evaluator
    budget: Budget
    store: Store | None
    run: str
    progress: Callable[[Visit], None] | None = None
    _memo: dict[str, Evaluation] = field(default_factory=dict)
    _visits: list[Visit] = field(default_factory=list)
    _best: tuple[float, Completed, Evaluation] | None = None
    _baseline: Evaluation | None = None
    _recorded: dict[str, float] = field(default_factory=dict)
    _clock_base: float = 0.0
    _clock_start: float = 0.0
    _evaluations: int = 0

    def search(self) -> SearchResult:
        """Explores until the budget is spent or the space is exhausted. Raises UnsupportedError when even the default lowering fails."""
        self._clock_start = time.monotonic()
        self._recall()
        while not self._spent().exhausts(self.budget):
            batch = self._next_batch()
            if not batch:
                break
            self._evaluate(batch)
        best = self._best
        return SearchResult(best[1] if best else None, best[2] if best else None, self._baseline, tuple(self._visits), self._spent())

    def _recall(self) -> None:
        """Loads the finished evaluations of earlier attempts, each with the search time at which it was finished."""
        if self.store is None:
            return
        for event in self.store.events(self.run, "evaluation"):
            self._memo[event.key] = Evaluation.from_json(event.key, event.data["evaluation"])
            self._recorded[event.key] = float(event.data["elapsed"])

    def _spent(self) -> Spent:
        return Spent(self._evaluations, self._clock_base + time.monotonic() - self._clock_start)

    def _replay_clock(self, key: str) -> None:
        """Sets the clock to when an earlier attempt finished this evaluation, so that a resumed run has the same budget, not a new one."""
        if key in self._recorded:
            self._clock_base = max(self._clock_base, self._recorded.pop(key))
            self._clock_start = time.monotonic()

    def _next_batch(self) -> list[tuple[Leaf, Point, Completed | None]]:
        """Up to ``parallelism`` leaves; the very first batch is the default lowering alone, which all rewards are relative to."""
        batch: list[tuple[Leaf, Point, Completed | None]] = []
        wanted = 1 if self._baseline is None else self.evaluator.parallelism
        if self.budget.evaluations is not None:
            wanted = min(wanted, self.budget.evaluations - self._evaluations)
        while len(batch) < wanted:
            leaf = self.strategy.ask()
            if leaf is None:
                break
            point = self.tuner.ask(leaf.sketch)
            if point is None:
                self.strategy.close(leaf)
                continue
            batch.append((leaf, point, self._complete(leaf.sketch, point)))
        return batch

    def _complete(self, sketch: Sketch, point: Point) -> Completed | None:
        """Replays a sketch at a point and completes it; None when a step is illegal there. The root must complete."""
        module = self.root
        steps = fill(sketch, point)
        for step in steps:
            if not step.check(module, self.spec):
                return None
            module = step.apply(module, self.spec)
        try:
            return self.complete(module, steps)
        except UnsupportedError:
            if not sketch:
                raise
            return None

    def _evaluate(self, batch: list[tuple[Leaf, Point, Completed | None]]) -> None:
        new: dict[str, Candidate] = {}
        for _, _, completed in batch:
            if completed is not None and completed.candidate.key not in self._memo:
                new.setdefault(completed.candidate.key, completed.candidate)
        reused = set(self._memo)
        for evaluation in self.evaluator.evaluate(tuple(new.values())) if new else ():
            self._memo[evaluation.key] = evaluation
            self._record(evaluation, new[evaluation.key])
        for leaf, point, completed in batch:
            self._settle(leaf, point, completed, completed is not None and completed.candidate.key in reused)

    def _record(self, evaluation: Evaluation, candidate: Candidate) -> None:
        if self.store is None:
            return
        data: dict[str, Any] = {
            "evaluation": evaluation.to_json(),
            "text": self.store.put(candidate.program.text),
            "elapsed": self._spent().seconds,
        }
        self.store.append(self.run, "evaluation", evaluation.key, data)

    def _settle(self, leaf: Leaf, point: Point, completed: Completed | None, reused: bool) -> None:
        evaluation = self._memo[completed.candidate.key] if completed else None
        if evaluation is not None:
            self._replay_clock(evaluation.key)
        if not leaf.sketch:
            self._baseline = evaluation
        reward = self._reward(evaluation)
        self._evaluations += 1
        if completed and evaluation and evaluation.status is Status.OK and (self._best is None or reward > self._best[0]):
            self._best = (reward, completed, evaluation)
        trace = print_trace(completed.trace) if completed else ""
        visit = Visit(" | ".join(map(str, leaf.sketch)), trace, reward, evaluation, reused)
        self._visits.append(visit)
        if self.progress:
            self.progress(visit)
        self.tuner.tell(leaf.sketch, point, reward)
        self.strategy.tell(leaf, reward)

    def _reward(self, evaluation: Evaluation | None) -> float:
        """Throughput relative to the default lowering; 0 without the evidence; 1 for a right candidate when nothing was timed."""
        if evaluation is None or evaluation.status is not Status.OK:
            return 0.0
        base = self._baseline.seconds_per_call if self._baseline else None
        if base is None or not evaluation.seconds_per_call:
            return 1.0
        return base / evaluation.seconds_per_call
