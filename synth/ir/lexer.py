"""Tokens of the textual form."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.errors import SourceError
from synth.ir.grammar import Location
from synth.ir.printer import IDENTIFIER

FILE = "<ir>"

_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<number>\d+(?:\.(?!\.)\d*)?(?:e[+-]?\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<name>{IDENTIFIER})
    |(?P<sign>\.\.|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>=~!()\[\]{{}},;:@])""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is ``number``, ``string``, ``name``, ``sign`` or ``end``; ``offset`` counts characters from the start of the text."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> list[Token]:
    """All tokens, an ``end`` token last. Raises SourceError at a character that starts none."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise SourceError(f"unexpected character {text[at]!r}", place(text, at))
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match.group(), at))
        at = match.end()
    found.append(Token("end", "", at))
    return found


def place(text: str, offset: int) -> Location:
    """Line and column of an offset."""
    return Location(FILE, text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)
