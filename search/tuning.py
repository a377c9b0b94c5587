"""Parameters of a sketch: one Optuna study each, ask and tell, driven by one process.

Small spaces are enumerated in order (Optuna's samplers repeat themselves there); larger ones go to TPE. Sampler state is not stored
anywhere: the seed of a study is derived from the run's seed and the sketch, and a resumed run tells the same study the same results.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import optuna

from search.action import Point, Sketch, hole_spaces
from search.store import content_key

ENUMERATION_LIMIT = 200


@dataclass(slots=True)
class _Study:
    spaces: tuple[tuple[Any, ...], ...]
    study: optuna.Study | None
    grid: Any
    tried: set[Point] = field(default_factory=set)
    open_trials: dict[Point, optuna.trial.Trial] = field(default_factory=dict)


@dataclass(slots=True)
class Tuner:
    """Hands out untried points of sketches. ``attempts`` bounds how often a sampler may repeat itself before a space counts as
    exhausted."""

    seed: int
    attempts: int = 20
    _studies: dict[str, _Study] = field(default_factory=dict)

    def ask(self, sketch: Sketch) -> Point | None:
        """The next point of the sketch to try, or None when there is none left."""
        study = self._study(sketch)
        if study.study is None:
            return next(study.grid, None)
        for _ in range(self.attempts):
            trial = study.study.ask()
            point = tuple(values[trial.suggest_int(f"hole{i}", 0, len(values) - 1)] for i, values in enumerate(study.spaces))
            if point not in study.tried:
                study.tried.add(point)
                study.open_trials[point] = trial
                return point
            study.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        return None

    def tell(self, sketch: Sketch, point: Point, reward: float) -> None:
        """The reward of a point that was asked."""
        study = self._study(sketch)
        trial = study.open_trials.pop(point, None)
        if study.study is not None and trial is not None:
            study.study.tell(trial, reward)

    def _study(self, sketch: Sketch) -> _Study:
        key = " | ".join(map(str, sketch))
        if key not in self._studies:
            spaces = hole_spaces(sketch)
            size = 1
            for values in spaces:
                size *= len(values)
            if size <= ENUMERATION_LIMIT:
                self._studies[key] = _Study(spaces, None, itertools.product(*spaces))
            else:
                optuna.logging.set_verbosity(optuna.logging.WARNING)
                seed = int(content_key(str(self.seed), key)[:8], 16)
                sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
                self._studies[key] = _Study(spaces, optuna.create_study(direction="maximize", sampler=sampler), iter(()))
        return self._studies[key]
