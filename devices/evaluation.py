"""What evaluating a candidate yields, and the request for it: plain data that crosses process boundaries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from devices.device import Program
from devices.status import Status
from synth.evidence.cases import TestCase


@dataclass(frozen=True, slots=True)
class Candidate:
    """A printed program to be tested (and timed when ``timed``). ``key`` is unique to its text and the way it is run."""

    key: str
    program: Program
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome. ``seconds_per_call`` is the median of a measured timing, ``modelled_cost`` the cost model's figure where the device
    is an emulator; at most one of them is set. ``details`` is plain JSON: per-buffer errors, case counts, the first mismatch."""

    key: str
    status: Status
    reason: str = ""
    seconds_per_call: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    wall_seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "status": self.status.value,
            "reason": self.reason,
            "seconds_per_call": self.seconds_per_call,
            "details": self.details,
            "wall_seconds": self.wall_seconds,
        }

    @classmethod
    def from_json(cls, key: str, data: dict[str, Any]) -> Evaluation:
        return cls(key, Status(data["status"]), data["reason"], data["seconds_per_call"], data["details"], data["wall_seconds"])


@dataclass(frozen=True, slots=True)
class Problem:
    """What a candidate is held against: the source program, where source and candidates run, and the unit tests.

    ``cases`` marked optional (see ``synth.evidence.vectors``) are dropped when the source itself fails on them. ``timeout`` is seconds
    per build or run of all cases.
    """

    source: Program
    source_target: str
    target: str
    cases: tuple[TestCase, ...]
    tolerances: dict[str, Any]
    timeout: float = 60.0
