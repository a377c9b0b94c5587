"""Statements; loops and ``switch`` are in ``control``."""

from __future__ import annotations

from collections.abc import Callable

from clang.cindex import CursorKind

from synth.frontend.reader import clang, control, declarations, expressions, loops
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.reader import Reader
from synth.ir.grammar import Const, If, Return

_REFUSED: dict[CursorKind, tuple[str, str]] = {
    CursorKind.GOTO_STMT: ("goto", "use loops and conditions"),
    CursorKind.INDIRECT_GOTO_STMT: ("goto", "use loops and conditions"),
    CursorKind.ASM_STMT: ("inline assembly", "write it in C++"),
    CursorKind.MS_ASM_STMT: ("inline assembly", "write it in C++"),
    CursorKind.CXX_TRY_STMT: ("try", "remove exceptions"),
    CursorKind.CXX_FOR_RANGE_STMT: ("a range-based for", "use an index"),
    CursorKind.CASE_STMT: ("a case label inside another statement", "put it directly into the switch"),
    CursorKind.DEFAULT_STMT: ("a default label inside another statement", "put it directly into the switch"),
}

_IGNORED_DECLARATIONS = frozenset(
    {
        CursorKind.TYPEDEF_DECL,
        CursorKind.TYPE_ALIAS_DECL,
        CursorKind.STATIC_ASSERT,
        CursorKind.STRUCT_DECL,
        CursorKind.ENUM_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.UNION_DECL,
        CursorKind.USING_DECLARATION,
        CursorKind.USING_DIRECTIVE,
        CursorKind.NAMESPACE_ALIAS,
        CursorKind.UNEXPOSED_DECL,
        CursorKind.FUNCTION_DECL,
    }
)


def read_statement(reader: Reader, cursor: Cursor) -> None:
    """Emits one statement. Raises UnsupportedError, naming the construct, for what is refused."""
    kind = cursor.kind
    handler = _HANDLERS.get(kind)
    if handler is not None:
        handler(reader, cursor)
    elif kind.is_expression():
        expressions.read_effect(reader, cursor)
    elif kind in _IGNORED_DECLARATIONS or kind == CursorKind.NULL_STMT:
        return
    elif kind == CursorKind.UNEXPOSED_STMT:
        for part in clang.operands(cursor):  # an attributed statement such as ``[[unlikely]]`` or ``#pragma unroll``
            read_statement(reader, part)
    else:
        what, hint = _REFUSED.get(kind, (f"this statement ({kind.name.lower().replace('_', ' ')})", "rewrite it in plain C++"))
        raise reader.refuse(f"{what} is not supported", cursor, hint)


def _compound(reader: Reader, cursor: Cursor) -> None:
    for part in cursor.get_children():
        read_statement(reader, part)


def _declarations(reader: Reader, cursor: Cursor) -> None:
    for part in cursor.get_children():
        if part.kind == CursorKind.VAR_DECL:
            declarations.declare(reader, part)
        elif part.kind not in _IGNORED_DECLARATIONS:
            raise reader.refuse(f"this declaration ({part.kind.name.lower().replace('_', ' ')})", part)


def _if(reader: Reader, cursor: Cursor) -> None:
    parts = clang.operands(cursor)
    while parts and parts[0].kind in (CursorKind.DECL_STMT, CursorKind.VAR_DECL):
        first = parts.pop(0)
        if first.kind == CursorKind.VAR_DECL:
            declarations.declare(reader, first)
        else:
            read_statement(reader, first)
    if len(parts) > 2 and not control.closes_parenthesis(reader, parts[0], parts[1]):
        read_statement(reader, parts.pop(0))
    if len(parts) not in (2, 3):
        raise reader.refuse("this form of 'if' is not supported", cursor, "write the initialisation before it")
    condition = expressions.read_condition(reader, parts[0])
    branches = parts[1:]
    if isinstance(condition, Const):
        taken = branches[0] if condition.value else (branches[1] if len(branches) > 1 else None)
        if taken is not None:
            read_statement(reader, taken)
        return
    with reader.body() as then:
        read_statement(reader, branches[0])
    with reader.body() as orelse:
        if len(branches) > 1:
            read_statement(reader, branches[1])
    reader.emit(If(condition, tuple(then), tuple(orelse), loc=reader.location(cursor)))


def _return(reader: Reader, cursor: Cursor) -> None:
    function = reader.function
    if function is not None and function.leave is not None:
        function.leave(cursor)
        return
    for operand in clang.operands(cursor):
        expressions.read_effect(reader, operand)
    reader.emit(Return(reader.location(cursor)))


def _label(reader: Reader, cursor: Cursor) -> None:
    """A label alone changes nothing; a ``goto`` that can be reached is refused where it stands."""
    for part in clang.operands(cursor):
        if part.kind != CursorKind.LABEL_REF:
            read_statement(reader, part)


_HANDLERS: dict[CursorKind, Callable[[Reader, Cursor], None]] = {
    CursorKind.LABEL_STMT: _label,
    CursorKind.COMPOUND_STMT: _compound,
    CursorKind.DECL_STMT: _declarations,
    CursorKind.IF_STMT: _if,
    CursorKind.RETURN_STMT: _return,
    CursorKind.FOR_STMT: lambda r, c: loops.read_for(r, c),
    CursorKind.WHILE_STMT: lambda r, c: control.read_while(r, c),
    CursorKind.DO_STMT: lambda r, c: control.read_do(r, c),
    CursorKind.SWITCH_STMT: lambda r, c: control.read_switch(r, c),
    CursorKind.BREAK_STMT: lambda r, c: control.read_break(r, c),
    CursorKind.CONTINUE_STMT: lambda r, c: control.read_continue(r, c),
}
