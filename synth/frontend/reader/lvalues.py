"""Expressions that denote places: variables, elements, members, dereferences."""

from __future__ import annotations

from clang.cindex import CursorKind, TypeKind

from synth.frontend.reader import calls, clang, declarations, expressions, facts, memory, operators, swizzle
from synth.frontend.reader.arithmetic import lane, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import (
    PLACES,
    AnyLane,
    ArrayPlace,
    Element,
    Fixed,
    LanePlace,
    Memory,
    Place,
    Pointer,
    PointerVariable,
    RecordPlace,
    RecordValue,
    Renamed,
    Settled,
    Value,
)
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import LANE_NAMES, CType, RecordType, describe
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Const, Expr, MakeVec


def read_place(reader: Reader, cursor: Cursor) -> Place:
    """The place an expression denotes; a value that is none becomes a ``Fixed`` temporary."""
    kind = cursor.kind
    if kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        vector = swizzle.base_of(cursor)
        if vector is not None:
            return _lanes(reader, cursor, vector)
        inner = clang.operands(cursor)
        if len(inner) == 1 and _same_type(cursor, inner[0]):
            return read_place(reader, inner[0])
    elif kind == CursorKind.DECL_REF_EXPR:
        return _variable(reader, cursor)
    elif kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
        return _subscript(reader, cursor)
    elif kind == CursorKind.MEMBER_REF_EXPR:
        return _member(reader, cursor)
    elif kind == CursorKind.UNARY_OPERATOR:
        operator = clang.unary_operator(cursor)
        if operator == "*":
            return memory.dereference(reader, expressions.read_value(reader, clang.operands(cursor)[0]), cursor)
        if operator in ("pre++", "pre--"):
            return operators.step(reader, cursor)
    elif kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(cursor) == "=":
        return operators.assign(reader, cursor)
    elif kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(cursor) == ",":
        left, right = clang.operands(cursor)
        expressions.read_effect(reader, left)
        return read_place(reader, right)
    elif kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        return operators.compound_assign(reader, cursor)
    elif kind == CursorKind.CALL_EXPR:
        return calls.read_call_place(reader, cursor)
    elif clang.casts_lvalue(cursor):
        return _cast_place(reader, cursor)
    return Fixed(expressions.read_value(reader, cursor), reader.ctype(cursor))


def _lanes(reader: Reader, cursor: Cursor, vector: Cursor) -> Place:
    """``v.x`` of an extended vector, or several lanes as a value."""
    chosen = swizzle.lanes_of(reader, cursor)
    if vector.type.get_canonical().kind == TypeKind.POINTER:
        place = memory.dereference(reader, expressions.read_value(reader, vector), cursor)
    else:
        place = read_place(reader, vector)
    if len(chosen) == 1:
        return LanePlace(place, chosen[0])
    value = memory.scalar_value(reader, memory.load(reader, place, cursor), cursor)
    return Fixed(MakeVec(tuple(lane(value, i) for i in chosen)), reader.ctype(cursor))


def _same_type(a: Cursor, b: Cursor) -> bool:
    """Equal up to qualifiers: no conversion happens between the two nodes."""
    x, y = a.type.get_canonical(), b.type.get_canonical()
    if x == y:
        return True

    def bare(type_: clang.ClangType) -> str:
        words = type_.spelling.replace("struct ", "").split(" ")
        return " ".join(w for w in words if w not in ("const", "volatile"))

    return x.kind == y.kind and bare(x) == bare(y)


def _cast_place(reader: Reader, cursor: Cursor) -> Place:
    inner = clang.operands(cursor)
    place = memory.address(reader, read_place(reader, inner[-1]), cursor)
    type_ = reader.ctype(cursor)
    if isinstance(place, Pointer):
        return Memory(memory.view(place, type_, place.const))
    raise reader.refuse(f"a register viewed as '{describe(type_)}'", cursor, "use a value cast such as __float_as_int")


def _variable(reader: Reader, cursor: Cursor) -> Place:
    declaration = cursor.referenced
    if declaration is None or declaration == cursor:
        inner = clang.operands(cursor)  # the value of a template's non-type argument
        if len(inner) == 1:
            value = expressions.convert_value(reader, expressions.read_value(reader, inner[0]), reader.ctype(cursor), cursor)
            return Fixed(value, reader.ctype(cursor))
        value_of = clang.evaluate(cursor)
        type_ = reader.ctype(cursor)
        if value_of is not None and isinstance(type_, DType):
            return Fixed(literal(value_of, type_), type_)
        raise reader.refuse("this name cannot be resolved", cursor)
    found = reader.scope.find(declaration)
    if found is not None:
        return found
    special = reader.dialect.variable(reader, declaration, cursor)
    if special is not None:
        return special if isinstance(special, PLACES) else Fixed(special, reader.ctype(cursor))
    if declaration.kind == CursorKind.ENUM_CONSTANT_DECL:
        type_ = reader.ctype(cursor)
        assert isinstance(type_, DType)
        return Fixed(literal(declaration.enum_value, type_), type_)
    if declaration.kind == CursorKind.VAR_DECL:
        return declarations.read_global(reader, declaration, cursor)
    if declaration.kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD):
        raise reader.refuse(f"the address of function '{declaration.spelling}'", cursor, "call it by name")
    raise reader.refuse(f"'{declaration.spelling}' is not visible here", cursor)


def _subscript(reader: Reader, cursor: Cursor) -> Place:
    base, position = clang.operands(cursor)
    if position.type.get_canonical().kind == TypeKind.POINTER:  # ``i[a]``
        base, position = position, base
    inner = clang.strip(base)
    places: list[Place] = []
    by_place = facts.is_array(inner.type) or inner.type.get_canonical().kind in (TypeKind.VECTOR, TypeKind.EXTVECTOR)

    def first() -> Value:
        if by_place:
            places.append(read_place(reader, inner))
            return Const(0, DType.I64)
        return expressions.read_value(reader, base)

    pointer, index = reader.in_order(first, lambda: expressions.read_value(reader, position))
    count = memory.scalar_value(reader, index, position)
    if places:
        return memory.element(reader, places[0], count, cursor)
    return memory.dereference(reader, memory.advance(reader, pointer, count, cursor), cursor)


def _member(reader: Reader, cursor: Cursor) -> Place:
    inner = clang.operands(cursor)
    if not inner:
        if reader.scope.this is None:
            raise reader.refuse(f"member '{cursor.spelling}' outside an object", cursor)
        return member(reader, reader.scope.this, cursor.spelling, cursor)
    base = inner[0]
    if base.type.get_canonical().kind == TypeKind.POINTER:
        return member(reader, memory.dereference(reader, expressions.read_value(reader, base), cursor), cursor.spelling, cursor)
    return member(reader, read_place(reader, base), cursor.spelling, cursor)


def member(reader: Reader, place: Place, name: str, cursor: Cursor) -> Place:
    """``place.name``: a field of a record, or a lane of a vector."""
    declaration = cursor.referenced
    if declaration is not None and declaration.kind == CursorKind.VAR_DECL:
        return declarations.read_global(reader, declaration, cursor)  # a static data member
    type_ = _place_type(place)
    if isinstance(type_, Vec):
        if name in LANE_NAMES[: type_.lanes]:
            return LanePlace(place, LANE_NAMES.index(name))
    elif isinstance(place, RecordPlace):
        if name in place.fields:
            return place.fields[name]
    elif isinstance(place, Fixed) and isinstance(place.value, RecordValue):
        if name in place.value.fields:
            found = next(f.type for f in place.value.type.fields if f.name == name)
            return Fixed(place.value.fields[name], found)
    elif isinstance(place, Memory) and isinstance(type_, RecordType):
        for field in type_.fields:
            if field.name == name:
                return Memory(memory.displaced(place.pointer, field.offset, field.type))
    raise reader.refuse(f"member '{name}' of this expression", cursor, "use structs of scalars")


def _place_type(place: Place) -> CType | None:
    match place:
        case Element(_, _, type_) | Fixed(_, type_):
            if isinstance(place, Fixed) and isinstance(place.value, Expr):
                return place.value.type
            return type_
        case Memory(pointer):
            return pointer.pointee
        case RecordPlace(type_, _) | ArrayPlace(_, _, type_):
            return type_
        case PointerVariable() | Settled() | Renamed():
            return place.type
        case LanePlace() | AnyLane():
            return None


def stable(reader: Reader, place: Place) -> Place:
    """The same place with every index as of now (for a reference that outlives changes of the variables in its initialiser)."""
    match place:
        case Element(buffer, index, type_):
            return Element(buffer, tuple(_now(reader, e) for e in index), type_)
        case ArrayPlace(buffer, index, type_):
            return ArrayPlace(buffer, tuple(_now(reader, e) for e in index), type_)
        case Memory(pointer):
            pinned = reader.snapshot(pointer, "at")
            assert isinstance(pinned, Pointer)
            return Memory(pinned)
        case LanePlace(base, i):
            return LanePlace(stable(reader, base), i)
        case AnyLane(base, index):
            return AnyLane(stable(reader, base), _now(reader, index))
        case Fixed(value, type_):
            return Fixed(reader.snapshot(value), type_)
        case _:
            return place


def _now(reader: Reader, expr: Expr) -> Expr:
    value = reader.snapshot(expr, "at")
    assert isinstance(value, Expr)
    return value
