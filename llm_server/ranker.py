"""A model as ranker of legal actions: one label per action, one generated token, its log-probabilities are the weights.

Labels are single letters, shuffled by an explicit seed against position bias. Log-probabilities are asked for without a grammar, since
under one they are those of the masked distribution. An action whose label the server did not report gets the weight of the least likely
reported one."""

from __future__ import annotations

import math
import random
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_server.client import LlmClient, ServerFacts, first_token_logprobs

LABELS = string.ascii_uppercase + string.ascii_lowercase + string.digits


@dataclass(slots=True)
class LlmRanker:
    """``facts`` come from ``client.probe()``. Raises LlmError from ``rank``."""

    client: LlmClient
    facts: ServerFacts
    target: str
    seed: int = 0

    @property
    def name(self) -> str:
        return f"llm:{self.facts.model}"

    def rank(self, program: str, actions: Sequence[str]) -> tuple[float, ...]:
        """Probabilities (not normalised) of the actions, in their order. More actions than labels: the surplus gets the least weight."""
        count = min(len(actions), len(LABELS))
        labels = list(LABELS[:count])
        random.Random(f"{self.seed}:{program}").shuffle(labels)
        prompt = self._prompt(program, [(label, actions[i]) for i, label in sorted(enumerate(labels), key=lambda pair: pair[1])])
        answer = self.client.complete(prompt, max_tokens=1, logprobs=self.facts.max_logprobs)
        reported = {token.strip(): math.exp(min(value, 0.0)) for token, value in first_token_logprobs(answer).items()}
        known = [reported[label] for label in labels if label in reported]
        rest = min(known, default=1.0) / 2
        return tuple(reported.get(labels[i], rest) if i < count else rest / 2 for i in range(len(actions)))

    def _prompt(self, program: str, choices: Sequence[tuple[str, str]]) -> str:
        template = (Path(__file__).parent / "templates" / "rank.txt").read_text()
        listing = "\n".join(f"{label}: {action}" for label, action in choices)
        return template.replace("{target}", self.target).replace("{program}", _clip(program, self.facts)).replace("{choices}", listing)


def _clip(program: str, facts: ServerFacts) -> str:
    """Keeps the program within half of the context, at a conservative two characters a token."""
    limit = (facts.context_length or 4096) // 2 * 2
    return program if len(program) <= limit else program[:limit] + "\n... (cut)\n"
