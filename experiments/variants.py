"""Meaning-preserving rewritings of a source text: other names, swapped operands, reordered statements.

A translator must not care. These work on the text by libclang's extents, so that the rest of the file stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clang.cindex import CursorKind, TokenKind

from synth.frontend.reader.clang import CUDA_ARGUMENTS, Cursor, Unit, binary_operator, parse

_PURE = {
    CursorKind.DECL_REF_EXPR,
    CursorKind.UNEXPOSED_EXPR,
    CursorKind.INTEGER_LITERAL,
    CursorKind.FLOATING_LITERAL,
    CursorKind.PAREN_EXPR,
    CursorKind.BINARY_OPERATOR,
    CursorKind.MEMBER_REF_EXPR,
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.VAR_DECL,
    CursorKind.DECL_STMT,
    CursorKind.TYPE_REF,
    CursorKind.NAMESPACE_REF,
}
_BUILTIN_FIELDS = ("x", "y", "z", "w")  # of float4 and the like, which a struct of the file may share
_NAMED = (CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE)


def rename(text: str, entry: str, defines: Mapping[str, str]) -> str:
    """Every variable, parameter, field and function of the file gets a name that says nothing; the entry and macros keep theirs."""
    unit = _parse(text, defines)
    named = [c for c in _walk(unit.root, unit) if c.kind in (*_NAMED, CursorKind.FIELD_DECL) and c.spelling not in ("", entry, "main")]
    fields = {c.spelling for c in named if c.kind == CursorKind.FIELD_DECL}
    names = sorted({c.spelling for c in named} - fields.intersection(_BUILTIN_FIELDS))
    fresh = {name: f"zq{index}_" for index, name in enumerate(names)}
    raw = text.encode()
    out, position, previous = [], 0, ""
    for token in unit.handle.get_tokens(extent=unit.root.extent):
        start, end = token.extent.start.offset, token.extent.end.offset
        spelling = token.spelling
        if token.kind == TokenKind.IDENTIFIER and spelling in fresh and (spelling in fields or previous not in (".", "->", "::")):
            out += [raw[position:start].decode(), fresh[spelling]]
            position = end
        previous = spelling
    return "".join(out) + raw[position:].decode()


def swap_operands(text: str, defines: Mapping[str, str]) -> str:
    """``a + b`` becomes ``b + a``, ``a * b`` becomes ``b * a``, wherever both are values written in the file."""
    unit = _parse(text, defines)
    raw = text.encode()
    edits: list[tuple[int, int, bytes]] = []
    for function in unit.root.get_children():
        if _in_file(function, unit):
            edits += _swaps(function, raw)
    return _apply(raw, edits)


def reorder_statements(text: str, defines: Mapping[str, str]) -> str:
    """Adjacent declarations that do not need each other change places."""
    unit = _parse(text, defines)
    raw = text.encode()
    edits: list[tuple[int, int, bytes]] = []
    for cursor in _walk(unit.root, unit):
        if cursor.kind != CursorKind.COMPOUND_STMT:
            continue
        statements = list(cursor.get_children())
        index = 0
        while index + 1 < len(statements):
            first, second = statements[index], statements[index + 1]
            if _independent(first, second, raw):
                edits += [_replacement(first, second, raw), _replacement(second, first, raw)]
                index += 2
            else:
                index += 1
    return _apply(raw, edits)


def _parse(text: str, defines: Mapping[str, str]) -> Unit:
    return parse(text, "variant.cu", CUDA_ARGUMENTS, defines=defines, force_include=("cuda_runtime.h",))


def _in_file(cursor: Cursor, unit: Unit) -> bool:
    where = cursor.location.file
    return where is not None and where.name == unit.path


def _walk(cursor: Cursor, unit: Unit) -> Iterator[Cursor]:
    for child in cursor.get_children():
        if _in_file(child, unit):
            yield child
            yield from _walk(child, unit)


def _span(cursor: Cursor) -> tuple[int, int]:
    return cursor.extent.start.offset, cursor.extent.end.offset


def _swaps(cursor: Cursor, raw: bytes) -> list[tuple[int, int, bytes]]:
    """Outermost swaps below a cursor; what is nested is rewritten inside their replacement."""
    if _is_swappable(cursor, raw):
        return [(*_span(cursor), _swapped(cursor, raw))]
    return [edit for child in cursor.get_children() for edit in _swaps(child, raw)]


def _is_swappable(cursor: Cursor, raw: bytes) -> bool:
    if cursor.kind != CursorKind.BINARY_OPERATOR or binary_operator(cursor) not in ("+", "*"):
        return False
    left, right = cursor.get_children()
    if "*" in left.type.spelling or "*" in right.type.spelling or "[" in left.type.spelling + right.type.spelling:
        return False
    (start, end), (a, b), (c, d) = _span(cursor), _span(left), _span(right)
    between = raw[b:c].strip()
    return start == a < b <= c < d == end and between == binary_operator(cursor).encode()


def _swapped(cursor: Cursor, raw: bytes) -> bytes:
    left, right = cursor.get_children()
    operator = binary_operator(cursor).encode()
    return _operand(right, raw) + b" " + operator + b" " + _operand(left, raw)


def _operand(cursor: Cursor, raw: bytes) -> bytes:
    start, end = _span(cursor)
    edits = [(a - start, b - start, new) for a, b, new in _swaps(cursor, raw)]
    text = _apply(raw[start:end], edits).encode()
    compound = re.search(rb"[-+*/%<>=&|^?,]", text) and not (text.startswith(b"(") and text.endswith(b")") and text.count(b"(") == 1)
    return b"(" + text + b")" if compound else text


def _independent(first: Cursor, second: Cursor, raw: bytes) -> bool:
    if first.kind != CursorKind.DECL_STMT or second.kind != CursorKind.DECL_STMT:
        return False
    for statement in (first, second):
        text = raw[slice(*_span(statement))]
        if not text.endswith(b";") or b"__shared__" in text or b"&" in text:
            return False
        if any(node.kind not in _PURE for node in statement.walk_preorder()):
            return False
    declared = {node.spelling for node in first.walk_preorder() if node.kind == CursorKind.VAR_DECL}
    used = {node.spelling for node in second.walk_preorder() if node.kind == CursorKind.DECL_REF_EXPR}
    return not declared & used


def _replacement(old: Cursor, new: Cursor, raw: bytes) -> tuple[int, int, bytes]:
    return (*_span(old), raw[slice(*_span(new))])


def _apply(raw: bytes, edits: list[tuple[int, int, bytes]]) -> str:
    out, position = [], 0
    for start, end, new in sorted(edits):
        out += [raw[position:start], new]
        position = end
    return b"".join([*out, raw[position:]]).decode()
