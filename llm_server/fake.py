"""A fake OpenAI-compatible server over real HTTP, for tests and for trying the product without a model.

``choose`` is given the prompt and answers a completion text; when log-probabilities are asked for, ``weights`` gives the candidates of
the first token."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def _no_text(_: str) -> str:
    return ""


def _no_weights(_: str) -> dict[str, float]:
    return {"A": 1.0}


@dataclass(slots=True)
class FakeModel:
    """The behaviour of the server, and the requests it has seen. ``failures`` are status codes served before the first good answer."""

    choose: Callable[[str], str] = _no_text
    weights: Callable[[str], dict[str, float]] = _no_weights
    name: str = "fake-coder"
    failures: list[int] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        prompt = str(request.get("prompt", ""))
        choice: dict[str, Any] = {"index": 0, "text": self.choose(prompt), "finish_reason": "length", "logprobs": None}
        count = request.get("logprobs")
        if isinstance(count, int):
            ranked = sorted(self.weights(prompt).items(), key=lambda item: -item[1])[:count]
            choice["logprobs"] = {"top_logprobs": [{token: math.log(max(weight, 1e-30)) for token, weight in ranked}]}
            choice["text"] = choice["text"] or (ranked[0][0] if ranked else "")
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 1}
        return {"object": "text_completion", "model": self.name, "choices": [choice], "usage": usage}


def _handler(model: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(200, {"object": "list", "data": [{"id": model.name, "object": "model", "max_model_len": 8192}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(request)
            if model.failures:
                self._reply(model.failures.pop(0), {"error": {"message": "told to fail"}})
                return
            self._reply(200, model.answer(request))

        def _reply(self, status: int, body: dict[str, Any]) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            return None

    return Handler


@contextmanager
def serve(model: FakeModel) -> Iterator[str]:
    """Serves on a free loopback port; gives the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
