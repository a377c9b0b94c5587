"""Clang's vector types for a compiler that has other ones.

``typedef float floatx4 __attribute__((ext_vector_type(4)))`` is unknown to g++, which would take it for a plain ``float``; its own
``vector_size`` has no lanes by name. Both become ``::xp::ExtVector<float, 4>`` of the emulator. Source: Clang Language Extensions, "Vectors
and Extended Vectors".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from devices.text_edits import Edit

_ATTRIBUTE = re.compile(
    r"__attribute__\s*\(\s*\(\s*(?P<kind>ext_vector_type|(?:__)?vector_size(?:__)?)\s*\(\s*(?P<amount>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*\)\s*\)"
)
_TYPEDEF = re.compile(r"(?P<type>[\w:\s]+?[\w:])\s+(?P<name>[A-Za-z_]\w*)")
_USING = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<type>[\w:\s]+?)")
NOT_READ = "xp_a_vector_type_is_declared_by_typedef_or_using_only"  # no such name: the compiler says so, with the line


def vector_types(masked: str) -> Iterator[Edit]:
    """The edits that declare vector types by the emulator's own. ``masked``: text without comments and literals."""
    for found in _ATTRIBUTE.finditer(masked):
        start = max(masked.rfind(character, 0, found.start()) for character in ";{}>#") + 1
        end = masked.find(";", found.end())
        statement = masked[start : found.start()] + " " + masked[found.end() : end]
        head = re.match(r"\s*(typedef|using)\b", statement)
        declared = None
        if head is not None and end >= 0:
            pattern = _TYPEDEF if head.group(1) == "typedef" else _USING
            declared = pattern.fullmatch(statement[head.end() :].replace("\n", " ").strip())
        if declared is None or head is None:
            yield Edit(found.start(), found.end(), NOT_READ)
            continue
        base = declared["type"].strip()
        amount = found["amount"].strip()
        lanes = amount if found["kind"] == "ext_vector_type" else f"({amount}) / sizeof({base})"
        vector = f"::xp::ExtVector<{base}, {lanes}>"
        name = declared["name"]
        text = f"typedef {vector} {name}" if head.group(1) == "typedef" else f"using {name} = {vector}"
        yield Edit(start + head.start(1), end, text)
