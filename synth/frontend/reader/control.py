"""``while``, ``do``, ``switch``, ``break`` and ``continue``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clang.cindex import CursorKind

from synth.frontend.reader import clang, escapes, expressions, statements
from synth.frontend.reader.arithmetic import binary, convert, unary
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.reader import Loop, Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import Body, Break, Const, Continue, Expr, If, While

_TRUE = Const(True, DType.BOOL)


def closes_parenthesis(reader: Reader, before: Cursor, after: Cursor) -> bool:
    """Whether the header's ``)`` stands between two parts of a statement (so ``before`` is its condition, not an initialiser)."""
    between = clang.tokens_between(reader.unit, before, after)
    return ")" in between or ";" not in between


def read_while(reader: Reader, cursor: Cursor) -> None:
    parts = clang.operands(cursor)
    if len(parts) != 2:
        raise reader.refuse("a declaration as the condition of 'while' is not supported", cursor, "declare the variable before the loop")
    condition, body = parts
    while_loop(reader, condition, body, cursor)


def while_loop(reader: Reader, condition: Cursor | None, body: Cursor, cursor: Cursor, increment: Sequence[Cursor] = ()) -> None:
    """``for (; condition; increment) body``. The increment stands at the end of the body and before every ``continue``."""
    where = reader.location(cursor)

    def advance() -> None:
        for part in increment:
            expressions.read_effect(reader, part)

    with reader.body() as test:
        value: Expr = _TRUE if condition is None else expressions.read_condition(reader, condition)
    with reader.body() as emitted:
        if test:  # the condition has side effects or calls: it is evaluated inside
            reader.emit(*test, If(unary("lnot", value), (Break(where),), loc=where))
        loop_body(reader, body, Loop(advance if increment else None))
        if not escapes.leaves(tuple(emitted)):
            advance()
    reader.emit(While(_TRUE if test else value, tuple(emitted), loc=where))


def loop_body(reader: Reader, body: Cursor, loop: Loop) -> None:
    """Emits a loop's body with ``break`` and ``continue`` meaning this loop's."""
    loop.enclosing, reader.loop = reader.loop, loop
    try:
        statements.read_statement(reader, body)
    finally:
        reader.loop = loop.enclosing


def read_do(reader: Reader, cursor: Cursor) -> None:
    body, condition = clang.operands(cursor)
    where = reader.location(cursor)

    def test() -> None:
        value = expressions.read_condition(reader, condition)
        if isinstance(value, Const):
            if not value.value:
                reader.emit(Break(where))
            return
        reader.emit(If(unary("lnot", value), (Break(where),), loc=where))

    with reader.body() as emitted:
        loop_body(reader, body, Loop(test))
        if not escapes.leaves(tuple(emitted)):
            test()
    last = emitted[-1] if emitted else None
    if isinstance(last, Break) and not _jumps(tuple(emitted[:-1])):
        reader.emit(*emitted[:-1])  # do { } while (0)
    else:
        reader.emit(While(_TRUE, tuple(emitted), loc=where))


def _jumps(body: Body) -> bool:
    """Whether a body breaks or continues the loop around it."""
    for stmt in body:
        if isinstance(stmt, Break | Continue):
            return True
        if isinstance(stmt, If) and (_jumps(stmt.then) or _jumps(stmt.orelse)):
            return True
    return False


def read_break(reader: Reader, cursor: Cursor) -> None:
    where = reader.location(cursor)
    if reader.loop is None:
        raise reader.refuse("break outside a loop", cursor)
    if reader.loop.break_label is not None:
        reader.emit(escapes.escape(reader.loop.break_label, where))
    else:
        reader.emit(Break(where))


def read_continue(reader: Reader, cursor: Cursor) -> None:
    loop = reader.loop
    while loop is not None and loop.break_label is not None:
        loop = loop.enclosing
    if loop is None:
        raise reader.refuse("continue outside a loop", cursor)
    if loop.on_continue is not None:
        saved, reader.loop = reader.loop, loop
        loop.on_continue()
        reader.loop = saved
    if not reader.out or not isinstance(reader.out[-1], Break):
        reader.emit(Continue(reader.location(cursor)))


# ---------------------------------------------------------------------------------------------------------- switch


@dataclass(slots=True)
class _Section:
    """The statements behind one or more labels; a label None is ``default``."""

    labels: list[Cursor | None] = field(default_factory=list)
    body: list[Cursor] = field(default_factory=list)


def read_switch(reader: Reader, cursor: Cursor) -> None:
    """A chain of ``If``. A section that falls through is followed by a copy of the next one."""
    parts = clang.operands(cursor)
    if len(parts) != 2 or parts[1].kind != CursorKind.COMPOUND_STMT:
        raise reader.refuse("this form of 'switch' is not supported", cursor, "write switch (value) { case ...: }")
    selector = convert_selector(reader, parts[0])
    sections = _sections(reader, parts[1])
    label = reader.label()
    chain: Body = ()
    tests: list[tuple[Expr | None, Body]] = []
    for position, section in enumerate(sections):
        with reader.body() as emitted:
            loop = Loop(None, label, reader.loop)
            reader.loop = loop
            try:
                for part in _until_jump(sections, position):
                    statements.read_statement(reader, part)
            finally:
                reader.loop = loop.enclosing
        tests.append((None if any(x is None for x in section.labels) else _matches(reader, selector, section), tuple(emitted)))
    for test, body in tests:
        if test is None:
            chain = body
    for test, body in reversed(tests):
        if test is not None:
            chain = (If(test, body, chain, loc=reader.location(cursor)),)
    reader.emit(*escapes.eliminate(chain, label, "switch.done"))


def convert_selector(reader: Reader, cursor: Cursor) -> Expr:
    """The value switched over, evaluated once."""
    value = expressions.read_scalar(reader, cursor)
    return reader.let("selector", value, cursor)


def _matches(reader: Reader, selector: Expr, section: _Section) -> Expr:
    test: Expr | None = None
    for label in section.labels:
        assert label is not None
        value = expressions.constant(reader, label)
        one = binary("eq", selector, convert(value, selector.type))
        test = one if test is None else binary("lor", test, one)
    assert test is not None
    return test


def _sections(reader: Reader, body: Cursor) -> list[_Section]:
    found: list[_Section] = []
    for part in clang.children(body):
        fresh = True
        while part.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            if fresh:
                found.append(_Section())
                fresh = False
            inner = clang.operands(part)
            if part.kind == CursorKind.CASE_STMT and len(inner) != 2:
                raise reader.refuse("a case range is not supported", part, "list the values")
            found[-1].labels.append(inner[0] if part.kind == CursorKind.CASE_STMT else None)
            part = inner[-1]
        if not found:
            raise reader.refuse("a statement before the first case of a switch", part, "move it before the switch")
        if part.kind == CursorKind.DECL_STMT:
            raise reader.refuse("a declaration directly inside a switch", part, "put braces around the case")
        found[-1].body.append(part)
    return found


_JUMPS = (CursorKind.BREAK_STMT, CursorKind.RETURN_STMT, CursorKind.CONTINUE_STMT)


def _until_jump(sections: Sequence[_Section], start: int) -> list[Cursor]:
    """The statements that run from a section on, up to its unconditional jump; a final ``break`` is left out."""
    parts: list[Cursor] = []
    for section in sections[start:]:
        for part in section.body:
            last = part
            inner = clang.children(part) if part.kind == CursorKind.COMPOUND_STMT else []
            if inner and inner[-1].kind in _JUMPS:
                parts.extend(inner[:-1])
                last = inner[-1]
            if last.kind == CursorKind.BREAK_STMT:
                return parts
            parts.append(last)
            if last.kind in _JUMPS:
                return parts
    return parts
