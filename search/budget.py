"""How much a search may spend."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits; None is no limit. ``seconds`` is wall-clock time of the search, earlier attempts of a resumed run included."""

    evaluations: int | None = None
    seconds: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a search has used so far."""

    evaluations: int = 0
    seconds: float = 0.0
    tokens: int = 0

    def exhausts(self, budget: Budget) -> bool:
        """Whether any limit of the budget is reached."""
        pairs = ((self.evaluations, budget.evaluations), (self.seconds, budget.seconds), (self.tokens, budget.tokens))
        return any(limit is not None and used >= limit for used, limit in pairs)
