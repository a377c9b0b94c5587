"""Typed results of the public API, and their JSON form (schema version 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from synth.errors import Diagnostic
from synth.evidence.levels import Evidence, Level

SCHEMA_VERSION = 1


class ResultStatus(Enum):
    """How it ended. ``exit_code`` is the documented exit status of the command."""

    OK = "ok"
    UNSUPPORTED = "unsupported"
    REFUTED = "refuted"
    NOT_SHOWN = "not_shown"
    ERROR = "error"

    @property
    def exit_code(self) -> int:
        return {"ok": 0, "unsupported": 1, "refuted": 1, "not_shown": 3, "error": 2}[self.value]


@dataclass(frozen=True, slots=True)
class TuningReport:
    """What a search did: strategy and proposer, points explored in order, the speed-up over the default lowering (measured, None if
    untimed)."""

    strategy: str
    proposer: str
    explored: tuple[str, ...]
    evaluations: int
    reused: int
    speedup: float | None


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a translation (``to`` is the target dialect) or a verification (``to`` is the dialect of the second program).

    ``output`` is the printed program, None unless ``status`` is OK (or ``keep_failed`` was asked for); ``seconds`` holds ``total`` and
    the stages.
    ``exit_code`` follows the status, except that a limit of ours also ends with 1.
    """

    status: ResultStatus
    source: str
    from_dialect: str
    to_dialect: str
    target: str
    entry: str
    output: str | None
    evidence: Evidence
    required: Level
    trace: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    structure: dict[str, Any] = field(default_factory=dict)
    tuning: TuningReport | None = None

    @property
    def ok(self) -> bool:
        return self.status is ResultStatus.OK

    @property
    def exit_code(self) -> int:
        return self.status.exit_code

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        reached = [f.level.value for f in self.evidence.findings if self.evidence.shows(f.level)]
        return {
            "schema_version": SCHEMA_VERSION,
            "status": self.status.value,
            "source": self.source,
            "from": self.from_dialect,
            "to": self.to_dialect,
            "target": self.target,
            "entry": self.entry,
            "output": self.output,
            "evidence": {
                "level": max(reached, default=None),
                "required": self.required.value,
                "levels": {
                    f.level.value: {"outcome": f.outcome.value, "summary": f.summary, "details": f.details} for f in self.evidence.findings
                },
            },
            "trace": list(self.trace),
            "seconds": {name: round(value, 4) for name, value in self.seconds.items()},
            "structure": self.structure,
            "tuning": _tuning_json(self.tuning),
            "diagnostics": [_diagnostic_json(d) for d in self.diagnostics],
        }


def _tuning_json(report: TuningReport | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {
        "strategy": report.strategy,
        "proposer": report.proposer,
        "explored": list(report.explored),
        "evaluations": report.evaluations,
        "reused": report.reused,
        "speedup": report.speedup,
    }


def _diagnostic_json(diagnostic: Diagnostic) -> dict[str, Any]:
    place = diagnostic.location
    return {
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "hint": diagnostic.hint,
    }
