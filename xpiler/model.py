"""Wiring of the LLM room: a client whose cache and log live in the record store, and what is built on it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from llm_server.client import Exchange, LlmClient
from llm_server.errors import LlmError
from llm_server.ranker import LlmRanker
from llm_server.rewriter import LlmRewriter
from search.store import Store
from synth.errors import UsageError
from synth.spec import DeviceSpec
from xpiler.options import Options


class StoredAnswers(MutableMapping[str, dict[str, Any]]):
    """The request cache: answers are events of the run, so that a resumed search asks no question twice."""

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run = store, run

    def __getitem__(self, key: str) -> dict[str, Any]:
        event = self._store.latest(self._run, "answer", key)
        if event is None:
            raise KeyError(key)
        return event.data

    def __setitem__(self, key: str, value: dict[str, Any]) -> None:
        if key not in self:
            self._store.append(self._run, "answer", key, value)

    def __delitem__(self, key: str) -> None:
        raise TypeError("records are never deleted")

    def __iter__(self) -> Iterator[str]:
        return (event.key for event in self._store.events(self._run, "answer"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def client(options: Options, store: Store | None, run: str) -> LlmClient:
    """A client for ``--llm``, logging every exchange in the store when there is one."""
    cache: MutableMapping[str, dict[str, Any]] = StoredAnswers(store, run) if store else {}

    def log(exchange: Exchange) -> None:
        if store:
            data = {
                "prompt": store.put(str(exchange.request.get("prompt", ""))),
                "cached": exchange.cached,
                "seconds": exchange.seconds,
                "tokens": exchange.prompt_tokens + exchange.completion_tokens,
            }
            store.append(run, "exchange", str(exchange.request.get("model")), data)

    return LlmClient(options.llm or "", options.model, cache=cache, log=log)


def connect(options: Options, spec: DeviceSpec, store: Store | None, run: str) -> tuple[LlmRanker, LlmRewriter]:
    """A ranker and a rewriter on one probed connection. Raises UsageError when the server does not serve."""
    connection = client(options, store, run)
    try:
        facts = connection.probe()
    except LlmError as error:
        raise UsageError(f"--llm {options.llm}: {error}") from error
    return LlmRanker(connection, facts, spec.name, options.seed), LlmRewriter(connection, spec.name)
