"""What can go wrong between us and a model server. Each error says whether trying again may help, and what to do."""

from __future__ import annotations


class LlmError(Exception):
    """Base. ``retryable``: the same request may succeed later. ``hint``: what the user can do."""

    retryable = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.hint = hint


class Unreachable(LlmError):
    """No answer: connection refused, timed out, or dropped."""

    retryable = True


class Overloaded(LlmError):
    """HTTP 429 or 5xx."""

    retryable = True


class Rejected(LlmError):
    """HTTP 4xx: the server will not answer this request."""


class MalformedAnswer(LlmError):
    """HTTP 200 with a body that is not what the protocol says."""


class MissingFeature(LlmError):
    """The server answers but lacks something we need: the model, log-probabilities."""
