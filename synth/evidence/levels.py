"""Evidence levels and what is recorded for each (DESIGN section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Level(Enum):
    """L0: well formed, in bounds, race-free, within limits. L1: source text and result agree on inputs. L2 to L4: see docs/evidence.md."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"


class Outcome(Enum):
    """``shown`` and ``refuted`` are findings; ``not_shown``: tried without an answer; ``not_tried``: no attempt was made."""

    SHOWN = "shown"
    REFUTED = "refuted"
    NOT_SHOWN = "not_shown"
    NOT_TRIED = "not_tried"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known at one level. ``details`` is plain JSON data: sizes, counts, seeds, tolerances, devices."""

    level: Level
    outcome: Outcome
    summary: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The findings of one result, at most one a level."""

    findings: tuple[Finding, ...] = ()

    def at(self, level: Level) -> Finding | None:
        return next((f for f in self.findings if f.level is level), None)

    @property
    def refuted(self) -> Finding | None:
        """The first refutation; one makes the whole result fail."""
        return next((f for f in self.findings if f.outcome is Outcome.REFUTED), None)

    def shows(self, level: Level) -> bool:
        finding = self.at(level)
        return finding is not None and finding.outcome is Outcome.SHOWN
