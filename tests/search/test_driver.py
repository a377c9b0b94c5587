"""The driver: rewards, memoised candidates, budgets, records, and resuming after a kill at any point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devices.device import Program
from devices.evaluation import Candidate, Evaluation
from devices.status import Status
from search.budget import Budget
from search.driver import Completed, Driver, SearchResult
from search.mcts import Mcts
from search.store import Store
from search.tree import Tree
from search.tuning import Tuner
from synth.ir.grammar import Module
from synth.passes.base import Pass
from tests.search.toy import SPEC, FixedProposer, program, value_of


class Killed(Exception):
    """Stands for a kill between two evaluations."""


@dataclass
class FakeEvaluator:
    """Programs with a larger number are faster; those that end in 3 are wrong. ``die_after`` evaluations the process is killed."""

    die_after: int | None = None
    evaluated: list[str] = field(default_factory=list)
    parallelism: int = 1

    def evaluate(self, candidates: Sequence[Candidate]) -> tuple[Evaluation, ...]:
        results = []
        for candidate in candidates:
            if self.die_after is not None and len(self.evaluated) >= self.die_after:
                raise Killed
            self.evaluated.append(candidate.key)
            wrong = candidate.key.endswith("3")
            seconds = None if wrong else 1.0 / (1 + int(candidate.key) % 97)
            results.append(Evaluation(candidate.key, Status.MISMATCH if wrong else Status.OK, "", seconds))
        return tuple(results)


def complete(module: Module, steps: tuple[Pass, ...]) -> Completed:
    key = str(value_of(module))
    return Completed(steps, module, Candidate(key, Program(key, "vnni", "toy", ())))


def search(evaluator: FakeEvaluator, store: Store | None = None, evaluations: int = 12) -> SearchResult:
    root = program(0)
    strategy = Mcts(Tree(root, SPEC, FixedProposer(), depth=4))
    return Driver(root, SPEC, complete, strategy, Tuner(0), evaluator, Budget(evaluations=evaluations), store, "run").search()


def test_the_best_right_candidate_wins_and_wrong_ones_earn_nothing() -> None:
    result = search(FakeEvaluator())
    assert result.best is not None and result.best_evaluation is not None
    speeds = [v.reward for v in result.visits]
    assert max(speeds) == pytest.approx(1.0 / result.best_evaluation.seconds_per_call)
    assert all(v.reward == 0.0 for v in result.visits if v.evaluation and v.evaluation.status is Status.MISMATCH)


def test_the_budget_of_evaluations_is_kept() -> None:
    assert len(search(FakeEvaluator(), evaluations=5).visits) == 5


@pytest.mark.parametrize("kill_at", [0, 1, 4, 9])
def test_a_killed_run_resumes_without_repeating_a_finished_evaluation(tmp_path: Path, kill_at: int) -> None:
    whole = search(FakeEvaluator())
    first = FakeEvaluator(die_after=kill_at)
    with Store.open(tmp_path) as store, pytest.raises(Killed):
        search(first, store)
    second = FakeEvaluator()
    with Store.open(tmp_path) as store:
        resumed = search(second, store)
    assert not set(first.evaluated) & set(second.evaluated)
    assert [(v.sketch, v.reward) for v in resumed.visits] == [(v.sketch, v.reward) for v in whole.visits]
    assert sum(v.reused for v in resumed.visits) >= kill_at


def test_time_spent_before_a_kill_counts(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.append("run", "evaluation", "0", {"evaluation": Evaluation("0", Status.OK, "", 1.0).to_json(), "elapsed": 50.0, "text": ""})
        root = program(0)
        strategy = Mcts(Tree(root, SPEC, FixedProposer()))
        result = Driver(root, SPEC, complete, strategy, Tuner(0), FakeEvaluator(), Budget(seconds=40.0), store, "run").search()
    assert [v.reused for v in result.visits] == [True]
    assert result.spent.seconds >= 50.0


def test_without_a_right_candidate_there_is_no_best() -> None:
    root = program(3)
    strategy = Mcts(Tree(root, SPEC, FixedProposer((0, 0, 1.0))))
    result = Driver(root, SPEC, complete, strategy, Tuner(0), FakeEvaluator(), Budget(evaluations=1), None, "run").search()
    assert result.best is None and result.baseline is not None and result.baseline.status is Status.MISMATCH
