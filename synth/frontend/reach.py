"""The part of a source text that an entry reaches: the bodies of all other functions are emptied, everything else stays where it is.

An oracle compiles this text. A file often holds a driver program and sibling kernels that need more of the world than an emulator has;
what the entry computes does not depend on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clang.cindex import CursorKind

from synth.frontend.entry import callees
from synth.frontend.reader import clang
from synth.frontend.reader.clang import Cursor, Unit

_FUNCTIONS = (
    CursorKind.FUNCTION_DECL,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CXX_METHOD,
)


def reached_text(unit: Unit, entry: Cursor) -> str:
    """``unit.text`` with unreached bodies blanked, line breaks kept. Constructors, destructors and constexpr functions are left alone."""
    reached = {_start(entry)}
    queue = [entry]
    while queue:
        for target in callees(queue.pop()):
            definition = clang.definition_of(target) or target
            if _start(definition) not in reached:
                reached.add(_start(definition))
                queue.append(definition)
    raw = bytearray(unit.text.encode())
    for function in _functions(unit.root, unit):
        body = clang.body_of(function)
        if body is None or _start(function) in reached:
            continue
        start, end = body.extent.start.offset, body.extent.end.offset
        head = raw[max(0, function.extent.start.offset - 80) : start].decode(errors="replace")
        if end > len(raw) or raw[start : start + 1] != b"{" or re.search(r"\bconstexpr\b|\bconsteval\b", head.rsplit("}", 1)[-1]):
            continue
        for position in range(start + 1, end - 1):
            if raw[position : position + 1] != b"\n":
                raw[position] = 0x20
    return raw.decode()


def _start(function: Cursor) -> tuple[str, int]:
    """Instantiations of one template share their place."""
    where = function.location
    return (where.file.name if where.file is not None else "", where.offset)


def _functions(parent: Cursor, unit: Unit) -> Iterator[Cursor]:
    for child in parent.get_children():
        where = child.location.file
        if where is None or where.name != unit.path:
            continue
        if child.kind in _FUNCTIONS:
            yield child
        else:
            yield from _functions(child, unit)
