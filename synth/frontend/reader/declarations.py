"""Variables: locals, static tables and global constants to places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clang.cindex import CursorKind, StorageClass

from synth.frontend.reader import calls, clang, expressions, facts, initialisers, lvalues, memory
from synth.frontend.reader.arithmetic import binary, convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import (
    ZERO,
    ArrayPlace,
    Buffer,
    Element,
    Fixed,
    Memory,
    Place,
    PlacePointer,
    Pointer,
    PointerVariable,
    RecordPlace,
    RecordValue,
    Renamed,
    Value,
)
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import (
    ArrayType,
    CType,
    OpaqueType,
    PointerType,
    RecordType,
    ReferenceType,
    Void,
    describe,
    element_dtype,
    has_array,
    size_of,
)
from synth.ir.dtypes import DType, Vec, scalar
from synth.ir.grammar import Alloc, Const, Expr, For, Space, Stmt, Store, Sym, Var

_LITERAL_ELEMENTS = 4096  # longest array whose initial values are listed in its ``Alloc``
_UNROLLED_ELEMENTS = 64  # longest array that is initialised by separate stores


def extent(value: int) -> Const:
    """An array extent."""
    return literal(value, DType.I32 if value <= DType.I32.max_int else DType.I64)


def declare(reader: Reader, cursor: Cursor) -> None:
    """A local variable: binds its declaration to a place and emits what initialises it."""
    refuse_volatile(reader, cursor)
    special = reader.dialect.declare(reader, cursor)
    if special is not None:
        reader.scope.bind(cursor, special)
        return
    if cursor.storage_class == StorageClass.EXTERN:
        raise reader.refuse(f"extern variable '{cursor.spelling}'", cursor, "define it")
    type_ = reader.ctype(cursor)
    value = clang.initializer(cursor)
    function = reader.function
    found = facts.facts_of(reader.unit, function.cursor) if function is not None else facts.Facts()
    key = clang.declaration_key(cursor)
    modified, addressed = key in found.modified, key in found.addressed
    if (
        cursor.storage_class == StorageClass.STATIC
        and not is_constant(cursor)
        and (modified or addressed or not isinstance(type_, ArrayType))
    ):
        raise reader.refuse(f"static variable '{cursor.spelling}' keeps its value between calls", cursor, "pass it as a buffer")
    if isinstance(type_, ReferenceType):
        if value is None:
            raise reader.refuse(f"reference '{cursor.spelling}'", cursor)
        reader.scope.bind(cursor, lvalues.stable(reader, lvalues.read_place(reader, value)))
        return
    if isinstance(type_, ArrayType):
        _declare_array(reader, cursor, type_, value, flat=key in found.flat or addressed)
        return
    if isinstance(type_, OpaqueType | Void):
        what = "a lambda" if "lambda" in describe(type_) else f"a variable of type '{describe(type_)}'"
        raise reader.refuse(f"{what} is not supported", cursor, "write a device function")
    initial = None if value is None else read_initial(reader, value, type_)
    place = (
        introduce_renamed(reader, cursor.spelling, type_, initial, cursor)
        if found.straight(key) and renameable(type_)
        else introduce(reader, cursor.spelling, type_, initial, cursor, modified=modified, addressed=addressed)
    )
    reader.scope.bind(cursor, place)


def refuse_volatile(reader: Reader, cursor: Cursor) -> None:
    if "volatile" in cursor.type.get_canonical().spelling.split():
        raise reader.refuse(f"volatile variable '{cursor.spelling}' is not supported yet", cursor, "use barriers or atomics")


def is_constant(cursor: Cursor) -> bool:
    """Whether a variable is const or constexpr (its array elements, for arrays)."""
    type_ = cursor.type.get_canonical()
    while facts.is_array(type_) and not type_.is_const_qualified():  # clang puts an element's const on its canonical array
        type_ = type_.element_type.get_canonical()
    return bool(type_.is_const_qualified())


def read_initial(reader: Reader, value: Cursor, type_: CType) -> Value | None:
    """The initial value, or None where the variable starts uninitialised (a trivial default constructor)."""
    inner = clang.strip(value)
    if inner.kind == CursorKind.INIT_LIST_EXPR:
        return initialisers.read_list(reader, inner, type_)
    constructor = inner.referenced if inner.kind == CursorKind.CALL_EXPR else None
    default = constructor is not None and constructor.kind == CursorKind.CONSTRUCTOR and not list(inner.get_arguments())
    if default and calls.is_implicit(constructor):
        return default_members(reader, inner, type_)
    return expressions.convert_value(reader, expressions.read_value(reader, value), type_, value)


def default_members(reader: Reader, cursor: Cursor, type_: CType) -> Value | None:
    """What an implicit default constructor gives: the default member initialisers, or None (uninitialised) when there are none."""
    if not isinstance(type_, RecordType):
        return None
    fields: dict[str, Value] = {}
    for member in cursor.type.get_canonical().get_fields():
        given = [c for c in clang.operands(member) if c.kind.is_expression()]
        if given and any(spelling in ("=", "{") for spelling, _ in clang.tokens(member)):  # else they are array lengths
            found = next(f.type for f in type_.fields if f.name == member.spelling)
            fields[member.spelling] = expressions.convert_value(reader, expressions.read_value(reader, given[-1]), found, cursor)
    if not fields:
        return None
    rest = {f.name: initialisers.zero(reader, f.type, cursor) for f in type_.fields if f.name not in fields}
    return RecordValue(type_, {f.name: fields.get(f.name, rest.get(f.name, ZERO)) for f in type_.fields})


def introduce(
    reader: Reader, name: str, type_: CType, initial: Value | None, cursor: Cursor, *, modified: bool, addressed: bool = False
) -> Place:
    """The place of a new variable that is not an array: a ``Let`` when it never changes, else mutable storage."""
    if initial is not None and not modified and not addressed and not has_array(type_):
        return Fixed(_named(reader, name, initial, cursor), type_)
    place = allocate(reader, name, type_, cursor, addressed=addressed)
    if initial is not None:
        memory.store(reader, place, initial, cursor)
    return place


def renameable(type_: CType) -> bool:
    """Whether a variable that changes in straight line can be renamed: scalars, vectors, pointers, and records of these."""
    if isinstance(type_, RecordType):
        return all(isinstance(f.type, DType | Vec | PointerType) for f in type_.fields)
    return isinstance(type_, DType | Vec | PointerType)


def introduce_renamed(reader: Reader, name: str, type_: CType, initial: Value | None, cursor: Cursor) -> Place:
    """A variable whose changes are all in straight line after its declaration."""
    place: Place = renamed_record(reader, name, type_, cursor) if isinstance(type_, RecordType) else Renamed(name, type_)
    if initial is not None:
        memory.store(reader, place, initial, cursor)
    return place


def renamed_record(reader: Reader, name: str, type_: RecordType, cursor: Cursor) -> Place:
    """A record whose scalar members are set once each, by a constructor without a body."""
    return RecordPlace(
        type_,
        {
            f.name: Renamed(f"{name}.{f.name}", f.type)
            if isinstance(f.type, DType | Vec | PointerType)
            else allocate(reader, f"{name}.{f.name}", f.type, cursor)
            for f in type_.fields
        },
    )


def _named(reader: Reader, name: str, value: Value, cursor: Cursor) -> Value:
    match value:
        case Pointer():
            offset = reader.let(name, value.offset, cursor)
            return Pointer(value.buffer, offset, value.unit, value.pointee, value.const)
        case RecordValue(type_, fields):
            return RecordValue(type_, {n: _named(reader, f"{name}.{n}", v, cursor) for n, v in fields.items()})
        case PlacePointer():
            return value
        case _:
            return reader.let(name, memory.scalar_value(reader, value, cursor), cursor)


def allocate(reader: Reader, name: str, type_: CType, cursor: Cursor, *, addressed: bool = False, space: Space = Space.LOCAL) -> Place:
    """Mutable, uninitialised storage for a value of ``type_``; emits its ``Alloc``."""
    where = reader.location(cursor)
    match type_:
        case Vec(dtype, lanes) if addressed:
            sym = Sym(name)
            reader.emit(Alloc(sym, dtype, (extent(lanes),), space, loc=where))
            return Memory(Pointer(Buffer(sym, dtype, (extent(lanes),), space), ZERO, dtype.bytes, type_))
        case DType() | Vec():
            sym = Sym(name)
            reader.emit(Alloc(sym, type_, (), space, loc=where))
            return Element(Buffer(sym, type_, (), space), (), type_)
        case PointerType():
            sym = Sym(name)
            reader.emit(Alloc(sym, DType.I64, (), Space.LOCAL, loc=where))
            return PointerVariable(sym, type_, name=name, home=reader.out)
        case RecordType(_, fields, _):
            return RecordPlace(type_, {f.name: allocate(reader, f"{name}.{f.name}", f.type, cursor, space=space) for f in fields})
        case ArrayType():
            place, statement = array_storage(reader, name, type_, cursor, flat=False, space=space)
            reader.emit(statement)
            return place
        case _:
            raise reader.refuse(f"a variable of type '{describe(type_)}' is not supported", cursor)


# ---------------------------------------------------------------------------------------------------------- arrays


def array_storage(
    reader: Reader,
    name: str,
    type_: ArrayType,
    cursor: Cursor,
    *,
    flat: bool,
    space: Space,
    lengths: Sequence[Expr] | None = None,
    init: tuple[Const, ...] | None = None,
) -> tuple[Place, Alloc]:
    """The place of an array and its ``Alloc``, which the caller emits where it belongs. ``lengths`` replace the declared ones (VLAs)."""
    dims, item = dimensions(type_)
    if lengths is None:
        if any(d is None for d in dims):
            raise reader.refuse(f"array '{name}' has no constant length", cursor, "give it one")
        lengths = [extent(d or 0) for d in dims]
    dtype, count = element_dtype(item), 0
    if dtype is not None:
        count = (size_of(item) or 0) // dtype.bytes
    if dtype is None or not count:
        raise reader.refuse(f"an array of '{describe(item)}' is not supported", cursor, "use arrays of scalars, one for each member")
    shape = [*lengths[:-1], lengths[-1] if count == 1 else _product([lengths[-1], extent(count)])]
    if flat or isinstance(item, RecordType):
        shape = [_product(shape)]
    sym = Sym(name)
    buffer = Buffer(sym, dtype, tuple(shape), space)
    statement = Alloc(sym, dtype, tuple(shape), space, init, reader.location(cursor))
    if len(shape) != len(lengths) or isinstance(item, RecordType):
        return Memory(Pointer(buffer, ZERO, dtype.bytes, type_)), statement
    return ArrayPlace(buffer, (), type_), statement


def dimensions(type_: CType) -> tuple[list[int | None], CType]:
    """The lengths of an array type, outermost first, and what it is an array of."""
    dims: list[int | None] = []
    while isinstance(type_, ArrayType):
        dims.append(type_.length)
        type_ = type_.element
    return dims, type_


def _product(factors: Sequence[Expr]) -> Expr:
    total = factors[0]
    for factor in factors[1:]:
        wide = DType.I64 if DType.I64 in (scalar(total.type), scalar(factor.type)) else DType.I32
        total = binary("mul", convert(total, wide), convert(factor, wide))
    return total


def _lengths(reader: Reader, cursor: Cursor, type_: ArrayType, value: Cursor | None) -> list[Expr] | None:
    dims, _ = dimensions(type_)
    if all(d is not None for d in dims):
        return None
    given = [c for c in clang.operands(cursor) if value is None or c != value]
    given.sort(key=lambda c: c.extent.start.offset)
    if len(given) != len(dims):
        raise reader.refuse(f"array '{cursor.spelling}' has no length", cursor, "give it one")
    return [reader.let(f"{cursor.spelling}.extent", expressions.read_scalar(reader, c), c) for c in given]


def _declare_array(reader: Reader, cursor: Cursor, type_: ArrayType, value: Cursor | None, *, flat: bool) -> None:
    if value is not None and clang.strip(value).kind == CursorKind.CALL_EXPR:
        value = None  # the default constructor of the elements
    place, _ = make_array(reader, cursor, type_, value, flat=flat, space=Space.LOCAL)
    reader.scope.bind(cursor, place)


def make_array(reader: Reader, cursor: Cursor, type_: ArrayType, value: Cursor | None, *, flat: bool, space: Space) -> tuple[Place, Alloc]:
    """Emits the ``Alloc`` of an array variable and the stores of its initialiser; literals stand in the ``Alloc`` itself."""
    name = cursor.spelling
    items = [] if value is None else list(initialisers.array_items(reader, clang.strip(value), type_))
    dims, item = dimensions(type_)
    total = math.prod(d or 0 for d in dims)
    constants = _literals(items, dims, item) if value is not None and 0 < total * _scalars(item) <= _LITERAL_ELEMENTS else None
    place, statement = array_storage(
        reader, name, type_, cursor, flat=flat, space=space, lengths=_lengths(reader, cursor, type_, value), init=constants
    )
    reader.emit(statement)
    if value is not None and constants is None:
        _store_items(reader, place, statement, items, total, item, cursor)
    return place, statement


def _scalars(item: CType) -> int:
    dtype = element_dtype(item)
    return (size_of(item) or 0) // dtype.bytes if dtype is not None else 0


def _literals(items: Sequence[tuple[tuple[int, ...], Value]], dims: Sequence[int | None], item: CType) -> tuple[Const, ...] | None:
    """The row-major literals of an array of scalars; None when an element is not a literal."""
    if not isinstance(item, DType):
        return None
    values = [literal(0, item)] * math.prod(d or 0 for d in dims)
    for index, value in items:
        if not isinstance(value, Const):
            return None
        position = 0
        for i, d in zip(index, dims, strict=True):
            position = position * (d or 0) + i
        values[position] = value
    return tuple(values)


def _store_items(
    reader: Reader, place: Place, statement: Alloc, items: Sequence[tuple[tuple[int, ...], Value]], total: int, item: CType, cursor: Cursor
) -> None:
    given = {index for index, _ in items}
    if len(given) < total or total == 0:
        reader.emit(*_zero_fill(statement))
    for index, value in items:
        target = place
        for i in index:
            target = memory.element(reader, target, literal(i, DType.I32), cursor)
        memory.store(reader, target, value, cursor)


def _zero_fill(statement: Alloc) -> tuple[Stmt, ...]:
    dtype = scalar(statement.dtype)
    syms = [Sym("i") for _ in statement.shape]
    types = [scalar(e.type) for e in statement.shape]
    index = tuple(Var(s, t) for s, t in zip(syms, types, strict=True))
    body: tuple[Stmt, ...] = (Store(statement.sym, index, literal(0, dtype), loc=statement.loc),)
    for sym, type_, length in reversed(list(zip(syms, types, statement.shape, strict=True))):
        body = (For(sym, type_, literal(0, type_), length, literal(1, type_), body, loc=statement.loc),)
    return body


# --------------------------------------------------------------------------------------------------------- globals


def read_global(reader: Reader, declaration: Cursor, cursor: Cursor) -> Place:
    """A namespace-scope, static-member or outer-function variable at its first use: a constant, or a constant table."""
    found = reader.scope.globals.get(clang.declaration_key(declaration))
    if found is not None:
        return found
    refuse_volatile(reader, declaration)
    special = reader.dialect.declare(reader, declaration)
    if special is not None:
        reader.scope.bind_global(declaration, special)
        return special
    type_ = reader.ctype(declaration)
    if not is_constant(declaration):
        raise reader.refuse(f"global variable '{declaration.spelling}'", cursor, "pass it as a parameter, or make it const")
    if isinstance(type_, DType):
        value = clang.evaluate(declaration)
        if value is None:
            initial = clang.initializer(declaration)
            value = clang.evaluate(initial) if initial is not None else None
        if value is None:
            raise reader.refuse(f"constant '{declaration.spelling}' has no value known here", cursor, "make it constexpr")
        place: Place = Fixed(literal(value, type_), type_)
    else:
        place = _global_table(reader, declaration, type_, cursor)
    reader.scope.bind_global(declaration, place)
    return place


def _global_table(reader: Reader, declaration: Cursor, type_: CType, cursor: Cursor) -> Place:
    value = clang.initializer(declaration)
    if value is None:
        raise reader.refuse(f"constant '{declaration.spelling}' has no initialiser here", cursor, "define it in this file")
    with reader.body() as emitted:
        if isinstance(type_, ArrayType):
            place, _ = make_array(reader, declaration, type_, value, flat=True, space=Space.CONST)
        else:
            initial = read_initial(reader, value, type_)
            if initial is None:
                raise reader.refuse(f"constant '{declaration.spelling}'", cursor)
            place = Fixed(_named(reader, declaration.spelling, initial, declaration), type_)
    reader.module_allocs.extend(emitted)
    return place
