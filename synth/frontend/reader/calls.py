"""Calls: the dialect's functions, the math library, constructors, operators, methods, and functions of the file (inlined)."""

from __future__ import annotations

from collections.abc import Sequence

from clang.cindex import CursorKind

from synth.frontend.reader import blocks, clang, declarations, expressions, facts, functions, lvalues, mathlib, memory
from synth.frontend.reader.arithmetic import literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import PLACES, Fixed, Place, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import RecordType, describe
from synth.ir.dtypes import DType, Vec


def read_call(reader: Reader, cursor: Cursor) -> Value:
    """The value of a call; emits what it does."""
    place = read_call_place(reader, cursor)
    return memory.load(reader, place, cursor)


def read_call_place(reader: Reader, cursor: Cursor) -> Place:
    """A call as a place (a reference that a function returns, or ``Fixed``)."""
    callee = clang.callee_of(cursor)
    if callee is None:
        raise reader.refuse(f"call of '{cursor.spelling or 'an expression'}'", cursor, "call a function by name")
    arguments = list(cursor.get_arguments())
    if callee.kind == CursorKind.CONSTRUCTOR:
        return _construct(reader, cursor, callee, arguments)
    if callee.kind not in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION):
        raise reader.refuse(f"call through '{cursor.spelling}', which is no function", cursor, "call a function by name")
    own = _own_definition(reader, callee)
    if callee.kind == CursorKind.CXX_METHOD or callee.kind == CursorKind.CONVERSION_FUNCTION:
        return _method(reader, cursor, callee, arguments)
    if own is not None:
        special = reader.dialect.own_call(reader, own, cursor)
        return functions.inline(reader, cursor, own, arguments) if special is None else _as_place(reader, special, cursor)
    name = callee.spelling
    special = reader.dialect.call(reader, name, cursor)
    if special is None:
        special = mathlib.call(reader, name, cursor, arguments)
    if special is None:
        special = blocks.call(reader, name, cursor, arguments)
    if special is not None:
        return _as_place(reader, special, cursor)
    definition = clang.definition_of(callee)
    if definition is not None:
        return functions.inline(reader, cursor, definition, arguments)
    constant = _constant_call(reader, cursor, arguments)
    if constant is not None:
        return constant
    raise reader.refuse(f"call of '{name}', which has no body here", cursor, "define it in this file")


def _as_place(reader: Reader, found: Place | Value, cursor: Cursor) -> Place:
    return found if isinstance(found, PLACES) else Fixed(found, reader.ctype(cursor))


def _constant_call(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Place | None:
    """A call without arguments that clang evaluates (``__builtin_inff()``, ``std::numeric_limits<float>::max()``)."""
    type_ = reader.ctype(cursor)
    value = clang.evaluate(cursor) if not arguments and isinstance(type_, DType) else None
    if value is None or not isinstance(type_, DType):
        return None
    return Fixed(literal(value, type_), type_)


def _own_definition(reader: Reader, callee: Cursor) -> Cursor | None:
    """The callee's body, when the user wrote it."""
    definition = clang.definition_of(callee)
    if definition is None or definition.location.file is None or definition.location.file.name != reader.unit.path:
        return None
    return definition


# ------------------------------------------------------------------------------------------------- member functions


def _method(reader: Reader, cursor: Cursor, callee: Cursor, arguments: Sequence[Cursor]) -> Place:
    if callee.is_static_method():
        constant = _constant_call(reader, cursor, arguments)
        if constant is not None:
            return constant
    if callee.is_virtual_method():
        raise reader.refuse(f"virtual function '{callee.spelling}'", cursor, "use plain functions")
    if "(lambda" in callee.semantic_parent.type.spelling or callee.semantic_parent.type.spelling == "":
        raise reader.refuse("a call of a lambda is not supported", cursor, "write a device function")
    special = reader.dialect.call(reader, f"{callee.semantic_parent.spelling}::{callee.spelling}", cursor)
    if special is not None:
        return _as_place(reader, special, cursor)
    this: Place | None = None
    if not callee.is_static_method():
        member = _named_member(cursor)
        if member is not None:
            this = _object(reader, member)
        else:
            this, arguments = lvalues.read_place(reader, arguments[0]), arguments[1:]
    if callee.spelling == "operator=" and this is not None and len(arguments) == 1 and is_implicit(callee):
        memory.store(reader, this, expressions.read_value(reader, arguments[0]), cursor)
        return this
    definition = clang.definition_of(callee)
    if definition is not None:
        this = _modifiable(reader, this, callee, cursor)
        return functions.inline(reader, cursor, definition, arguments, this)
    raise reader.refuse(f"call of member '{callee.spelling}', which has no body here", cursor, "define it in this file")


def _named_member(cursor: Cursor) -> Cursor | None:
    """``x.f`` of a call ``x.f()``; None for an operator, whose object is its first argument."""
    base = clang.strip(clang.children(cursor)[0])
    return base if base.kind == CursorKind.MEMBER_REF_EXPR and base.spelling == cursor.referenced.spelling else None


def object_of(reader: Reader, cursor: Cursor) -> Place:
    """The object that a method is called on."""
    member = _named_member(cursor)
    found = _object(reader, member) if member is not None else None
    return found if found is not None else lvalues.read_place(reader, next(iter(cursor.get_arguments())))


def is_implicit(callee: Cursor) -> bool:
    """A member function that the compiler writes: memberwise."""
    return bool(callee.is_default_method()) or callee.location == callee.semantic_parent.location


def _object(reader: Reader, member: Cursor) -> Place | None:
    inner = clang.operands(member)
    if not inner:
        return reader.scope.this
    if inner[0].type.get_canonical().kind.name == "POINTER":
        return memory.dereference(reader, expressions.read_value(reader, inner[0]), member)
    return lvalues.read_place(reader, inner[0])


def _modifiable(reader: Reader, this: Place | None, callee: Cursor, cursor: Cursor) -> Place | None:
    """A temporary object that a non-const method is called on gets storage."""
    if not isinstance(this, Fixed) or not facts.changes_object(reader.unit, callee):
        return this
    return declarations.introduce(reader, "temporary", this.type, this.value, cursor, modified=True)


# ----------------------------------------------------------------------------------------------------- constructors


def _construct(reader: Reader, cursor: Cursor, callee: Cursor, arguments: Sequence[Cursor]) -> Place:
    type_ = reader.ctype(cursor)
    definition = clang.definition_of(callee)
    special = reader.dialect.call(reader, callee.spelling, cursor)
    if special is not None:
        return _as_place(reader, special, cursor)
    if definition is None or isinstance(type_, Vec) or is_implicit(callee):
        if len(arguments) == 1 and reader.ctype(arguments[0]) == type_:
            return Fixed(expressions.read_value(reader, arguments[0]), type_)
        if not arguments and isinstance(type_, RecordType):
            initial = declarations.default_members(reader, cursor, type_)
            if initial is not None:
                return Fixed(initial, type_)
            return declarations.allocate(reader, "temporary", type_, cursor)
        raise reader.refuse(f"this constructor of '{describe(type_)}'", cursor, "initialise the members one by one")
    if not isinstance(type_, RecordType):
        raise reader.refuse(f"a constructor of '{describe(type_)}'", cursor, "use a struct of scalars")
    name = callee.semantic_parent.spelling or "object"
    given = {c.spelling for c in definition.get_children() if c.kind == CursorKind.MEMBER_REF}
    if not clang.children(clang.body_of(definition)) and given >= {f.name for f in type_.fields}:  # set once and for all
        place = declarations.renamed_record(reader, name, type_, cursor)
    else:
        place = declarations.allocate(reader, name, type_, cursor)
    initial = declarations.default_members(reader, cursor, type_)
    if initial is not None:
        memory.store(reader, place, initial, cursor)
    functions.inline(reader, cursor, definition, arguments, place)
    return Fixed(reader.snapshot(memory.load(reader, place, cursor)), type_)
