"""The exceptions of the project: few, and each knows its place in the user's source and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from synth.ir.grammar import Location


class XpilerError(Exception):
    """Base of all errors shown to a user. ``hint`` says what to do; ``location`` where."""

    def __init__(self, message: str, location: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{hint}"


class UsageError(XpilerError):
    """Bad options or unreadable input; exit status 2."""


class SourceError(UsageError):
    """The source text is not valid C++ of its dialect (a syntax or type error, an unknown include); exit status 2."""


class MissingIncludeError(SourceError):
    """An include that neither the user nor we have; ``name`` is how it is written."""

    def __init__(self, name: str, location: Location | None) -> None:
        super().__init__(f"include '{name}' is unknown", location, "give its folder with -I, or paste what is needed into the file")
        self.name = name


class UnsupportedError(XpilerError):
    """A valid program with a construct that we refuse; the message names the construct; exit status 1."""


class IllegalPassError(XpilerError):
    """A pass was applied where its check refuses; exit status 1."""


class InternalError(XpilerError):
    """A broken invariant of ours (an ill-formed module after a pass). Always a defect to be reported."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message for the user: ``severity`` is ``error``, ``warning`` or ``note``."""

    severity: str
    message: str
    location: Location | None = None
    hint: str = ""

    @classmethod
    def of(cls, error: XpilerError) -> Diagnostic:
        return cls("error", error.message, error.location, error.hint)
