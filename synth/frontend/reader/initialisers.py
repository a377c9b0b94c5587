"""Braced initialisers. libclang shows them as written, so elided braces are resolved here (ISO C 6.7.9, C++ [dcl.init.aggr])."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from clang.cindex import CursorKind

from synth.frontend.reader import clang, expressions, memory
from synth.frontend.reader.arithmetic import convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import ZERO, ArrayValue, Pointer, RecordValue, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import ArrayType, CType, PointerType, RecordType, describe
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Broadcast, MakeVec


def zero(reader: Reader, type_: CType, cursor: Cursor) -> Value:
    """The value-initialised value of a type: zeros."""
    match type_:
        case DType():
            return literal(0, type_)
        case Vec(dtype, lanes):
            return Broadcast(literal(0, dtype), lanes)
        case RecordType(_, fields, _):
            return RecordValue(type_, {f.name: zero(reader, f.type, cursor) for f in fields})
        case ArrayType(element, length) if length is not None and length <= memory.MAX_COPIED_ELEMENTS:
            return ArrayValue((zero(reader, element, cursor),) * length)
        case PointerType(pointee, const):
            return Pointer(None, ZERO, 1, pointee, const)
        case _:
            raise reader.refuse(f"initialisation of '{describe(type_)}'", cursor)


def read_list(reader: Reader, cursor: Cursor, type_: CType) -> Value:
    """``{a, b, ...}`` as a value of ``type_`` (not an array)."""
    items = deque(clang.operands(cursor))
    if not items:
        return zero(reader, type_, cursor)
    if len(items) == 1 and not isinstance(type_, Vec | RecordType | ArrayType):
        return expressions.convert_value(reader, expressions.read_value(reader, items[0]), type_, items[0])
    if len(items) == 1 and isinstance(type_, Vec | RecordType) and reader.ctype(items[0]) == type_:
        return expressions.read_value(reader, items[0])
    value = _members(reader, items, type_, cursor)
    if items:
        raise reader.refuse("this initialiser", cursor, "write one value for each member")
    return value


def _consume(reader: Reader, items: deque[Cursor], type_: CType, cursor: Cursor) -> Value:
    """The value of ``type_`` at the head of the list: its own braces, one expression, or the members one by one."""
    if not items:
        return zero(reader, type_, cursor)
    head = items[0]
    if head.kind == CursorKind.INIT_LIST_EXPR:
        items.popleft()
        return read_list(reader, head, type_)
    if not isinstance(type_, Vec | RecordType | ArrayType) or reader.ctype(head) == type_:
        items.popleft()
        return expressions.convert_value(reader, expressions.read_value(reader, head), type_, head)
    return _members(reader, items, type_, cursor)


def _members(reader: Reader, items: deque[Cursor], type_: CType, cursor: Cursor) -> Value:
    if isinstance(type_, Vec):
        lanes = _in_order(reader, items, (type_.dtype,) * type_.lanes, cursor)
        return MakeVec(tuple(convert(memory.scalar_value(reader, e, cursor), type_.dtype) for e in lanes))
    if isinstance(type_, ArrayType):
        return _array_value(reader, items, type_, cursor)
    if isinstance(type_, RecordType):
        values = _in_order(reader, items, tuple(f.type for f in type_.fields), cursor)
        return RecordValue(type_, {f.name: v for f, v in zip(type_.fields, values, strict=True)})
    raise reader.refuse(f"initialiser of '{describe(type_)}'", cursor)


def _in_order(reader: Reader, items: deque[Cursor], types: Sequence[CType], cursor: Cursor) -> list[Value]:
    """One value for each type from the head of the list; initialisers are evaluated from left to right."""

    def one(type_: CType) -> Callable[[], Value]:
        return lambda: _consume(reader, items, type_, cursor)

    return reader.in_order(*(one(t) for t in types))


def _array_value(reader: Reader, items: deque[Cursor], type_: ArrayType, cursor: Cursor) -> Value:
    if type_.length is None or type_.length > memory.MAX_COPIED_ELEMENTS:
        raise reader.refuse(f"initialiser of a struct with a member '{describe(type_)}'", cursor, "assign the elements in a loop")
    return ArrayValue(tuple(_in_order(reader, items, (type_.element,) * type_.length, cursor)))


def array_items(reader: Reader, cursor: Cursor, type_: ArrayType) -> Iterator[tuple[tuple[int, ...], Value]]:
    """The explicitly initialised elements of an array, with their indexes; the others are zero."""
    if cursor.kind == CursorKind.STRING_LITERAL or cursor.kind != CursorKind.INIT_LIST_EXPR:
        raise reader.refuse("this array initialiser", cursor, "use a braced list")
    items = deque(clang.operands(cursor))
    yield from _array(reader, items, type_, cursor)
    if items:
        raise reader.refuse("this array initialiser", cursor, "write one value for each element")


def _array(reader: Reader, items: deque[Cursor], type_: ArrayType, cursor: Cursor) -> Iterator[tuple[tuple[int, ...], Value]]:
    positions: Iterator[int] = itertools.count() if type_.length is None else iter(range(type_.length))
    for position in positions:
        if not items:
            return
        element = type_.element
        if isinstance(element, ArrayType):
            inner = array_items(reader, items.popleft(), element) if items[0].kind == CursorKind.INIT_LIST_EXPR else None
            for index, value in inner if inner is not None else _array(reader, items, element, cursor):
                yield (position, *index), value
        else:
            yield (position,), _consume(reader, items, element, cursor)
