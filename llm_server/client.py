"""A client for OpenAI-compatible completion servers (vLLM, and anything that speaks the same protocol).

Requests go to ``/v1/completions``. Answers are cached by model, parameters and prompt: reproducibility comes from this cache, never from
the server. Every exchange is reported to ``log``.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from llm_server.errors import LlmError, MalformedAnswer, MissingFeature, Overloaded, Rejected, Unreachable


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as logged: ``cached`` when no server was asked; token counts as the server says."""

    request: dict[str, Any]
    response: dict[str, Any]
    cached: bool
    seconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What probing found: the model's name, its context length in tokens (None if not told), and how many log-probabilities it returns."""

    model: str
    context_length: int | None
    max_logprobs: int


def _ignore(_: Exchange) -> None:
    return None


@dataclass(slots=True)
class LlmClient:
    """``base_url`` like ``http://127.0.0.1:8000`` (with or without ``/v1``). ``cache`` may be any mapping, a persistent one for resume."""

    base_url: str
    model: str | None = None
    timeout: float = 60.0
    retries: int = 2
    cache: MutableMapping[str, dict[str, Any]] = field(default_factory=dict)
    log: Callable[[Exchange], None] = _ignore
    pause: float = 0.5

    def probe(self) -> ServerFacts:
        """Asks for the models and tries a one-token request with log-probabilities.

        Raises LlmError: Unreachable, MissingFeature (the named model is not served; log-probabilities are not returned).
        """
        listing = self._send("GET", "/models", None)
        models = listing.get("data")
        if not isinstance(models, list) or not all(isinstance(m, dict) and isinstance(m.get("id"), str) for m in models):
            raise MalformedAnswer("the server's list of models is not understood", "is this an OpenAI-compatible server?")
        known = {m["id"]: m for m in models}
        name = self.model or next(iter(known), None)
        if name is None or name not in known:
            raise MissingFeature(f"model {name!r} is not served", f"served are: {', '.join(known) or 'none'}; choose one with --model")
        self.model = name
        length = known[name].get("max_model_len")
        limit = self._logprobs_limit()
        return ServerFacts(name, length if isinstance(length, int) else None, limit)

    def _logprobs_limit(self) -> int:
        for wanted in (20, 5, 1):
            try:
                answer = self.complete("A", max_tokens=1, logprobs=wanted)
            except Rejected:
                continue
            if first_token_logprobs(answer):
                return wanted
        raise MissingFeature("the server returns no log-probabilities", "start vLLM with --max-logprobs 20")

    def complete(
        self, prompt: str, *, max_tokens: int, logprobs: int | None = None, temperature: float = 0.0, **extra: Any
    ) -> dict[str, Any]:
        """One completion; the raw answer. Raises LlmError."""
        request = {
            "model": self.model,
            "prompt": prompt,
            "max_tokens": max_tokens,
            "temperature": temperature,
            **({"logprobs": logprobs} if logprobs is not None else {}),
            **extra,
        }
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        started = time.monotonic()
        cached = key in self.cache
        answer = self.cache[key] if cached else self._send("POST", "/completions", request)
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict) or not isinstance(choices[0].get("text"), str):
            raise MalformedAnswer("the completion has no text", "is this an OpenAI-compatible server?")
        self.cache[key] = answer
        usage = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
        counts = (usage or {}).get("prompt_tokens"), (usage or {}).get("completion_tokens")
        prompt_tokens, completion_tokens = (c if isinstance(c, int) and not cached else 0 for c in counts)
        self.log(Exchange(request, answer, cached, time.monotonic() - started, prompt_tokens, completion_tokens))
        return answer

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        for attempt in range(self.retries + 1):
            try:
                return self._send_once(method, path, body)
            except LlmError as error:
                if not error.retryable or attempt == self.retries:
                    raise
                time.sleep(self.pause * 2**attempt)
        raise Unreachable("no attempt was made", "retries must not be negative")

    def _send_once(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        base = self.base_url.rstrip("/")
        url = (base if base.endswith("/v1") else base + "/v1") + path
        try:
            response = httpx.request(method, url, json=body, timeout=self.timeout)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(
                f"no answer from {self.base_url}: {error}", "is the server up? start one with vLLM and pass its --llm URL"
            ) from error
        if response.status_code == 429 or response.status_code >= 500:
            raise Overloaded(f"{self.base_url} answered {response.status_code}", "try again later")
        if response.status_code >= 400:
            raise Rejected(
                f"{self.base_url} refused the request: {response.status_code} {response.text[:200]}", "check --model and the server's log"
            )
        try:
            answer = response.json()
        except ValueError as error:
            raise MalformedAnswer(f"{self.base_url} did not answer with JSON", "is this an OpenAI-compatible server?") from error
        if not isinstance(answer, dict):
            raise MalformedAnswer(f"{self.base_url} did not answer with a JSON object", "is this an OpenAI-compatible server?")
        return answer


def completion_text(answer: dict[str, Any]) -> str:
    """The text of the first choice."""
    text = answer["choices"][0]["text"]
    return text if isinstance(text, str) else ""


def first_token_logprobs(answer: dict[str, Any]) -> dict[str, float]:
    """Log-probabilities of the candidates for the first generated token; empty when the server sent none or nonsense."""
    record = answer["choices"][0].get("logprobs")
    top = record.get("top_logprobs") if isinstance(record, dict) else None
    first = top[0] if isinstance(top, list) and top else None
    if not isinstance(first, dict):
        return {}
    return {str(t): float(v) for t, v in first.items() if isinstance(v, int | float) and not math.isnan(v)}
