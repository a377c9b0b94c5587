"""A model as rewriter of a program under one pass. Its answer is text; nothing here trusts or compiles it (see ``synth.gate``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llm_server.client import LlmClient, completion_text

MAX_TOKENS = 2048


@dataclass(slots=True)
class LlmRewriter:
    """``target`` is the name of the device to write for. Raises LlmError from ``rewrite``."""

    client: LlmClient
    target: str

    def rewrite(self, program: str, under: str, manual: str) -> str:
        """The model's answer for ``program`` (C text) under the pass named ``under``, which ``manual`` describes."""
        template = (Path(__file__).parent / "templates" / "rewrite.txt").read_text()
        parts = {"{pass}": under, "{manual}": manual, "{target}": self.target, "{program}": program}
        for name, text in parts.items():
            template = template.replace(name, text)
        return completion_text(self.client.complete(template, max_tokens=MAX_TOKENS))
