"""The part of a source text that an entry reaches: the bodies of all other functions are emptied, everything else stays where it is.

An oracle compiles this text. A file often holds a driver program and sibling kernels that need more of the world than an emulator has;
what the entry computes does not depend on them. Reaching is decided by names, which is generous: calls in templates are not resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clang.cindex import CursorKind

from synth.frontend.reader import clang
from synth.frontend.reader.clang import Cursor, Unit

_FUNCTIONS = (CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE)
_HOLDERS = (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL)
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_CONSTANT = re.compile(rb"\b(constexpr|consteval)\b")


def reached_text(unit: Unit, entry: Cursor) -> str:
    """``unit.text`` with the bodies of unreached free functions blanked, line breaks kept; methods and constexpr functions stay."""
    raw = bytearray(unit.text.encode())
    bodies = [(f.spelling, f.extent.start.offset, *_span(body)) for f in _functions(unit.root, unit) if (body := clang.body_of(f))]
    bodies = [b for b in bodies if b[3] <= len(raw) and raw[b[2] : b[2] + 1] == b"{" and not _CONSTANT.search(_head(raw, b[1], b[2]))]
    outside = bytearray(raw)
    for _, _, start, end in bodies:
        outside[start:end] = b" " * (end - start)
    # What stands outside all bodies is compiled anyway: macros and initialisers may call functions, and prototypes may name them.
    macros = b"\n".join(line for line in outside.splitlines() if line.lstrip().startswith(b"#") or b"=" in line)
    names = {entry.spelling.split("<")[0]} | {name.decode() for name in _IDENTIFIER.findall(macros)}
    reached: set[int] = set()
    grew = True
    while grew:
        grew = False
        for number, (name, _, start, end) in enumerate(bodies):
            if number not in reached and name.split("<")[0] in names:
                reached.add(number)
                names |= {word.decode() for word in _IDENTIFIER.findall(bytes(raw[start:end]))}
                grew = True
    methods = _methods(outside)
    for number, (name, _, start, end) in enumerate(bodies):
        if number not in reached and name not in methods:
            raw[start + 1 : end - 1] = bytes(c if c == 0x0A else 0x20 for c in raw[start + 1 : end - 1])
    return raw.decode()


def _methods(outside: bytearray) -> set[str]:
    """Names that occur outside of free functions within braces, that is in records: their methods may call them."""
    depth, words, start = 0, set(), 0
    for position, c in enumerate(outside):
        if c == 0x7B:
            if depth == 0:
                start = position
            depth += 1
        elif c == 0x7D and depth:
            depth -= 1
            if depth == 0:
                words |= {w.decode() for w in _IDENTIFIER.findall(bytes(outside[start:position]))}
    return words


def _span(body: Cursor) -> tuple[int, int]:
    return body.extent.start.offset, body.extent.end.offset


def _head(raw: bytearray, start: int, body: int) -> bytes:
    """The words before a function's body, from the end of what precedes it."""
    return re.split(rb"[;}]", bytes(raw[max(0, start - 80) : body]))[-1]


def _functions(parent: Cursor, unit: Unit) -> Iterator[Cursor]:
    for child in parent.get_children():
        where = child.location.file
        if where is None or where.name != unit.path:
            continue
        if child.kind in _FUNCTIONS:
            yield child
        elif child.kind in _HOLDERS:
            yield from _functions(child, unit)
