"""Edits of source text by position, found in a copy in which comments and literals are blanked. Lines stay where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|\bR"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces ``text[start:end]``. Line breaks of the replaced part are kept, after the replacement."""

    start: int
    end: int
    replacement: str


def mask(text: str) -> str:
    """``text`` with comments, strings and character literals blanked; the same length and the same lines."""
    return _LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def apply_edits(text: str, edits: list[Edit]) -> str:
    """``text`` after ``edits``, which must not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < at:
            continue
        pieces += [text[at : edit.start], edit.replacement, *re.findall(r"\\?\n", text[edit.start : edit.end])]
        at = edit.end
    return "".join([*pieces, text[at:]])
