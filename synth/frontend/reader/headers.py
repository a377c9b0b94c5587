"""The header of a ``for``, by its syntax: its clauses, and whether it counts a variable from a start to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clang.cindex import CursorKind, TypeKind

from synth.frontend.reader import clang, facts
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Place
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType


@dataclass(frozen=True, slots=True)
class Clauses:
    """The four parts of a ``for``; absent ones are None."""

    init: Cursor | None
    condition: Cursor | None
    increment: Cursor | None
    body: Cursor


@dataclass(frozen=True, slots=True)
class Header:
    """A loop that is canonical by its syntax. ``relation`` is seen from the variable: ``i < hi``. ``start`` is None where the loop begins
    at the variable's present value; ``step`` None means 1; ``rest`` are the other increments."""

    variable: Cursor
    dtype: DType
    start: Cursor | None
    declared: bool
    relation: str
    limit: Cursor
    step: Cursor | None
    descending: bool
    rest: tuple[Cursor, ...]


# --------------------------------------------------------------------------------------------------------- clauses


def clauses(reader: Reader, cursor: Cursor) -> Clauses:
    """The parts of a ``for``. libclang drops absent ones; the semicolons of the header tell which are there."""
    parts = clang.operands(cursor)
    if len(parts) == 4 and parts[1].kind != CursorKind.VAR_DECL:
        return Clauses(parts[0], parts[1], parts[2], parts[3])
    if not parts or len(parts) > 4 or any(p.kind == CursorKind.VAR_DECL for p in parts):
        raise reader.refuse("this form of 'for' is not supported", cursor, "declare the condition's variable before the loop")
    header = clang.tokens(cursor)
    depth, semicolons = 0, []
    for spelling, offset in header:
        depth += {"(": 1, ")": -1}.get(spelling, 0)
        if spelling == ";" and depth == 1:
            semicolons.append(offset)
        if spelling == ")" and depth == 0:
            break
    if not header or header[0][0] != "for" or len(semicolons) != 2:
        raise reader.refuse("a 'for' header from a macro with an empty clause", cursor, "write the loop out")
    found: list[Cursor | None] = [None, None, None]
    for part in parts[:-1]:
        offset = part.extent.start.offset
        found[sum(offset > s for s in semicolons)] = part
    return Clauses(found[0], found[1], found[2], parts[-1])


def comma(cursor: Cursor) -> Iterator[Cursor]:
    inner = clang.strip(cursor)
    if inner.kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(inner) == ",":
        for side in clang.operands(inner):
            yield from comma(side)
    else:
        yield inner


def assigned(cursor: Cursor) -> Cursor | None:
    """The variable of ``i = e``."""
    if cursor.kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(cursor) == "=":
        return _named(clang.operands(cursor)[0])
    return None


def _named(cursor: Cursor) -> Cursor | None:
    """The variable or parameter that an expression is nothing but, or None."""
    inner = clang.strip(cursor)
    if inner.kind != CursorKind.DECL_REF_EXPR or inner.referenced is None:
        return None
    return inner.referenced if inner.referenced.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL) else None


# ---------------------------------------------------------------------------------------------------------- header


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


def canonical_header(reader: Reader, parts: Clauses) -> Header | None:
    if parts.condition is None or parts.increment is None:
        return None
    condition = clang.strip(parts.condition)
    if condition.kind != CursorKind.BINARY_OPERATOR:
        return None
    relation = clang.binary_operator(condition)
    if relation not in _FLIPPED:
        return None
    increments = list(comma(parts.increment))
    left, right = clang.operands(condition)
    for limit, named, seen in ((right, left, relation), (left, right, _FLIPPED[relation])):
        variable = _named(named)
        if variable is None:
            continue
        steps = [(i, _step(part, variable)) for i, part in enumerate(increments)]
        own = [(i, found) for i, found in steps if found is not None]
        if len(own) != 1:
            continue
        position, (step, descending) = own[0]
        rest = tuple(p for i, p in enumerate(increments) if i != position)
        header = _checked(reader, parts, variable, limit, seen, step, descending, rest)
        if header is not None:
            return header
    return None


def _step(cursor: Cursor, variable: Cursor) -> tuple[Cursor | None, bool] | None:
    """The step (None for 1) and whether it descends, when ``cursor`` advances ``variable``."""
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        operator = clang.unary_operator(cursor)
        if operator[-2:] in ("++", "--") and clang.same(_named(clang.operands(cursor)[0]), variable):
            return None, operator.endswith("--")
        return None
    if cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        left, right = clang.operands(cursor)
        operator = clang.binary_operator(cursor)
        return (right, operator == "-=") if operator in ("+=", "-=") and clang.same(_named(left), variable) else None
    if clang.same(assigned(cursor), variable):
        value = clang.strip(clang.operands(cursor)[1])
        if value.kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(value) in ("+", "-"):
            a, b = clang.operands(value)
            operator = clang.binary_operator(value)
            if clang.same(_named(a), variable):
                return b, operator == "-"
            if clang.same(_named(b), variable) and operator == "+":
                return a, False
    return None


def _checked(
    reader: Reader,
    parts: Clauses,
    variable: Cursor,
    limit: Cursor,
    relation: str,
    step: Cursor | None,
    descending: bool,
    rest: tuple[Cursor, ...],
) -> Header | None:
    dtype = reader.ctype(variable)
    if not isinstance(dtype, DType) or not dtype.is_int or relation not in ((">", ">=") if descending else ("<", "<=", "!=")):
        return None
    key = clang.declaration_key(variable)
    changed: set[int] = set()
    for part in (parts.body, limit, *((step,) if step is not None else ()), *rest):
        changed |= facts.facts_of(reader.unit, part).touched()
    if key in changed or any(clang.declaration_key(d) in changed for d in _references((limit, step))):
        return None
    if reader.function is not None and key in facts.facts_of(reader.unit, reader.function.cursor).addressed:
        return None
    start, declared = _start(parts.init, variable)
    if (start is None and declared) or (not declared and not isinstance(reader.scope.find(variable), Place)):
        return None
    return Header(variable, dtype, start, declared, relation, limit, step, descending, rest)


def _references(cursors: tuple[Cursor | None, ...]) -> Iterator[Cursor]:
    for cursor in cursors:
        if cursor is not None:
            for node in cursor.walk_preorder():
                if node.kind == CursorKind.DECL_REF_EXPR and node.referenced is not None and not _aggregate(node):
                    yield node.referenced


def _aggregate(node: Cursor) -> bool:
    """What a record or array holds is checked by the loads of the emitted limit instead."""
    return node.type.get_canonical().kind == TypeKind.RECORD or facts.is_array(node.type)


def _start(init: Cursor | None, variable: Cursor) -> tuple[Cursor | None, bool]:
    if init is None:
        return None, False
    if init.kind == CursorKind.DECL_STMT:
        for part in clang.children(init):
            if part == variable:
                return clang.initializer(part), True
        return None, False
    for part in comma(init):
        if clang.same(assigned(part), variable):
            return clang.operands(part)[1], False
    return None, False
