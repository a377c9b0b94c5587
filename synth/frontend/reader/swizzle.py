"""Lanes of clang's extended vectors by name: ``v.x``, ``v.s3``, ``v.xy``.

libclang shows such an access as an unexposed node over the vector, without the name (``ExtVectorElementExpr`` has no cursor kind; seen with
18.1.1): the name is its last token. Source: Clang Language Extensions, "Vectors and Extended Vectors".
"""

from __future__ import annotations

from clang.cindex import CursorKind, TypeKind

from synth.frontend.reader import clang
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.reader import Reader

_LETTERS = ("xyzw", "rgba")
_NUMBERS = "0123456789abcdef"


def base_of(cursor: Cursor) -> Cursor | None:
    """The vector (or pointer to one) of an access by name; None for any other node."""
    if cursor.kind != CursorKind.UNEXPOSED_EXPR:
        return None
    inner = clang.operands(cursor)
    if len(inner) != 1:
        return None
    base = inner[0].type.get_canonical()
    if base.kind == TypeKind.POINTER:
        base = base.get_pointee().get_canonical()
    if base.kind != TypeKind.EXTVECTOR:
        return None
    own = cursor.type.get_canonical()
    scalar = own.kind not in (TypeKind.EXTVECTOR, TypeKind.VECTOR, TypeKind.POINTER)
    # an implicit conversion stands where its operand does; a name comes after it
    return inner[0] if scalar or cursor.extent.end.offset > inner[0].extent.end.offset else None


def lanes_of(reader: Reader, cursor: Cursor) -> tuple[int, ...]:
    """The lanes that an access names, in order. Raises UnsupportedError when the name cannot be seen (in a macro) or is a half."""
    name = (clang.tokens(cursor) or [("", 0)])[-1][0]
    found: tuple[int, ...] = ()
    for letters in _LETTERS:
        if name and all(c in letters for c in name):
            found = tuple(letters.index(c) for c in name)
    if name[:1] in ("s", "S") and name[1:] and all(c in _NUMBERS for c in name[1:].lower()):
        found = tuple(_NUMBERS.index(c) for c in name[1:].lower())
    type_ = reader.ctype(cursor)
    if not found or len(found) != getattr(type_, "lanes", 1):
        raise reader.refuse("this access to lanes of a vector", cursor, "write v[i], or v.x outside of a macro")
    return found
