"""Reading and writing places; pointer arithmetic; views of memory as other types.

A view of a buffer as another type is resolved to loads and stores of the buffer's own type and a ``Bitcast``:
a wider pointee is a vector of elements, a narrower one is cut out of its element (little endian).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from synth.errors import InternalError
from synth.frontend.reader import arithmetic
from synth.frontend.reader.arithmetic import binary, bitcast, convert, lane, literal, offset_divided, offset_scaled, offset_sum, with_lane
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import (
    ZERO,
    AnyLane,
    ArrayPlace,
    ArrayValue,
    Buffer,
    Element,
    Fixed,
    LanePlace,
    Memory,
    NoValue,
    Place,
    PlacePointer,
    Pointer,
    PointerVariable,
    RecordPlace,
    RecordValue,
    Renamed,
    Settled,
    Value,
)
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import ArrayType, CType, PointerType, RecordType, describe, element_dtype, size_of
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import Broadcast, Const, Expr, Load, Store

MAX_COPIED_ELEMENTS = 64  # longest array member of a struct that is copied by value

# -------------------------------------------------------------------------------------------------------- pointers


def advance(reader: Reader, pointer: Value, count: Expr, cursor: Cursor) -> Value:
    """``pointer + count`` in units of its pointee."""
    if isinstance(pointer, PlacePointer):
        if arithmetic.is_zero_offset(count):
            return pointer
        raise reader.refuse("arithmetic on the address of a variable", cursor, "use an array")
    if not isinstance(pointer, Pointer):
        raise reader.refuse("this pointer arithmetic", cursor)
    size = size_of(pointer.pointee)
    if size is None or size % pointer.unit:
        raise reader.refuse(f"arithmetic on a pointer to '{describe(pointer.pointee)}'", cursor, "cast it to a pointer to its elements")
    offset = offset_sum(pointer.offset, offset_scaled(count, size // pointer.unit))
    return Pointer(pointer.buffer, offset, pointer.unit, pointer.pointee, pointer.const)


def view(pointer: Pointer, pointee: CType, const: bool = False) -> Pointer:
    """The same address with another pointee (``reinterpret_cast``)."""
    size = size_of(element_dtype(pointee) or pointee)
    unit = math.gcd(pointer.unit, size) if size else pointer.unit
    if size and pointer.buffer is not None and arithmetic.is_zero_offset(pointer.offset):
        unit = math.gcd(scalar(pointer.buffer.dtype).bytes, size)
    offset = ZERO if arithmetic.is_zero_offset(pointer.offset) else offset_scaled(pointer.offset, pointer.unit // unit)
    return Pointer(pointer.buffer, offset, unit, pointee, const)


def displaced(pointer: Pointer, byte_count: int, pointee: CType) -> Pointer:
    """The address ``byte_count`` bytes on, as a pointer to ``pointee`` (a member of a record)."""
    unit = math.gcd(pointer.unit, byte_count) if byte_count else pointer.unit
    lowered = Pointer(pointer.buffer, offset_scaled(pointer.offset, pointer.unit // unit), unit, pointee, pointer.const)
    moved = offset_sum(lowered.offset, Const(byte_count // unit, DType.I64))
    return view(Pointer(pointer.buffer, moved, unit, pointee, pointer.const), pointee, pointer.const)


def address(reader: Reader, place: Place, cursor: Cursor) -> Value:
    """``&place``."""
    match place:
        case Memory(pointer):
            return pointer
        case ArrayPlace():
            start = array_start(place)
            return Pointer(start.buffer, start.offset, start.unit, place.type)
        case Element(buffer, index, type_):
            dtype = scalar(buffer.dtype)
            if isinstance(buffer.dtype, Vec):
                return PlacePointer(place)
            return Pointer(buffer, _flatten(buffer, index), dtype.bytes, type_)
        case LanePlace(Memory(pointer), i):
            return _lane_address(pointer, i)
        case Fixed(value, _) if isinstance(value, Pointer | PlacePointer | RecordValue):
            return PlacePointer(place)
        case LanePlace() | AnyLane():
            raise reader.refuse("the address of a lane of a vector register", cursor, "copy the vector to an array first")
        case _:
            return PlacePointer(place)


def array_start(place: ArrayPlace) -> Pointer:
    """An array decayed: the address of its first element."""
    rank = len(place.buffer.shape or ())
    index = place.index + (ZERO,) * (rank - len(place.index))
    return Pointer(place.buffer, _flatten(place.buffer, index), scalar(place.buffer.dtype).bytes, place.type.element)


def _lane_address(pointer: Pointer, i: int) -> Pointer:
    assert isinstance(pointer.pointee, Vec)
    dtype = pointer.pointee.dtype
    return displaced(pointer, i * dtype.bytes, dtype)


def _flatten(buffer: Buffer, index: Sequence[Expr]) -> Expr:
    offset: Expr = ZERO
    for position, extent in zip(index, (buffer.shape or (ZERO,))[-len(index) :] if index else (), strict=False):
        offset = offset_sum(_times(offset, extent), position)
    return offset


def _times(a: Expr, extent: Expr) -> Expr:
    if arithmetic.is_zero_offset(a):
        return ZERO
    if isinstance(extent, Const):
        return offset_scaled(a, int(extent.value))
    return binary("mul", convert(a, DType.I64), convert(extent, DType.I64))


def _unflatten(buffer: Buffer, offset: Expr) -> tuple[Expr, ...]:
    shape = buffer.shape
    if shape is None or len(shape) == 1:
        return (offset,)
    if not shape:
        return ()
    index: list[Expr] = []
    rest = offset
    for extent in reversed(shape[1:]):
        size = convert(extent, DType.I64)
        rest = convert(rest, DType.I64)
        index.append(binary("mod", rest, size))
        rest = binary("div", rest, size)
    return (rest, *reversed(index))


# --------------------------------------------------------------------------------------------------------- loading


def load(reader: Reader, place: Place, cursor: Cursor) -> Value:
    """The value of a place; arrays decay to pointers."""
    match place:
        case Element(buffer, index, type_):
            return Load(buffer.sym, index, type_)
        case Memory(pointer):
            return _load_memory(reader, pointer, cursor)
        case ArrayPlace():
            return array_start(place)
        case LanePlace(Memory(pointer), i):
            return _load_memory(reader, _lane_address(pointer, i), cursor)
        case LanePlace(base, i):
            vector = load(reader, base, cursor)
            return lane(scalar_value(reader, vector, cursor), i)
        case AnyLane(base, index):
            return arithmetic.lane_at(scalar_value(reader, load(reader, base, cursor), cursor), index)
        case RecordPlace(type_, fields):
            return RecordValue(type_, {name: _load_whole(reader, field, cursor) for name, field in fields.items()})
        case Fixed(value, _) | Settled(value, _):
            return value
        case Renamed():
            if place.value is None:
                raise reader.refuse(f"'{place.name}' is used before it is assigned", cursor, "initialise it where it is declared")
            return place.value
        case PointerVariable():
            if place.buffer is None:
                raise reader.refuse(f"pointer '{place.name}' is used before it is assigned", cursor, "initialise it where it is declared")
            return Pointer(place.buffer, Load(place.sym, (), DType.I64), place.unit, place.type.pointee, place.type.const)


def _load_whole(reader: Reader, place: Place, cursor: Cursor) -> Value:
    """A member of a record by value: an array is copied, element by element; a member not set yet, which has no value in C, is zero."""
    if isinstance(place, Renamed) and place.value is None and isinstance(place.type, DType):
        return literal(0, place.type)
    type_ = place.type if isinstance(place, ArrayPlace) else place.pointer.pointee if isinstance(place, Memory) else None
    if not isinstance(type_, ArrayType):
        return load(reader, place, cursor)
    items = (element(reader, place, literal(i, DType.I32), cursor) for i in range(_copied_length(reader, type_, cursor)))
    return ArrayValue(tuple(_load_whole(reader, item, cursor) for item in items))


def _copied_length(reader: Reader, type_: ArrayType, cursor: Cursor) -> int:
    if type_.length is None or type_.length > MAX_COPIED_ELEMENTS:
        raise reader.refuse(f"copy of a struct with a large array member '{describe(type_)}'", cursor, "pass the array by pointer")
    return type_.length


def element(reader: Reader, place: Place, index: Expr, cursor: Cursor) -> Place:
    """``place[index]`` for an array or vector place, or a pointer value."""
    match place:
        case ArrayPlace(buffer, leading, type_):
            item = type_.element
            own = scalar(buffer.dtype)
            if isinstance(item, ArrayType):
                return ArrayPlace(buffer, (*leading, index), item)
            if item == own:
                return Element(buffer, (*leading, index), own)
            if isinstance(item, Vec) and item.dtype == own:
                return Element(buffer, (*leading, offset_scaled(index, item.lanes)), item)
            return dereference(reader, advance(reader, view(array_start(place), item), index, cursor), cursor)
        case Memory(pointer) if isinstance(pointer.pointee, ArrayType):
            decayed = view(pointer, pointer.pointee.element, pointer.const)
            return dereference(reader, advance(reader, decayed, index, cursor), cursor)
        case Memory(pointer) if isinstance(pointer.pointee, Vec):
            decayed = view(pointer, pointer.pointee.dtype, pointer.const)
            return dereference(reader, advance(reader, decayed, index, cursor), cursor)
        case Element() | Renamed() | Fixed() if _lane_count(place):
            if not isinstance(index, Const):
                return AnyLane(place, index)
            if not 0 <= int(index.value) < _lane_count(place):
                raise reader.refuse(f"lane {index.value} of a vector of {_lane_count(place)}", cursor, "use a lane that it has")
            return LanePlace(place, int(index.value))
        case Fixed(value, _) if isinstance(value, Pointer):
            return dereference(reader, advance(reader, value, index, cursor), cursor)
        case _:
            raise reader.refuse("this subscript", cursor, "index an array or a pointer")


def _lane_count(place: Element | Renamed | Fixed) -> int:
    """Lanes of a vector in a register; 0 for what is none."""
    value = place.value if isinstance(place, Fixed) else None
    type_ = value.type if isinstance(value, Expr) else place.type
    return type_.lanes if isinstance(type_, Vec) else 0


def dereference(reader: Reader, value: Value, cursor: Cursor) -> Place:
    """``*value``."""
    if isinstance(value, PlacePointer):
        return value.place
    if not isinstance(value, Pointer):
        raise reader.refuse("dereference of something that is not a pointer into a buffer", cursor)
    return Memory(value)


def scalar_value(reader: Reader, value: Value, cursor: Cursor) -> Expr:
    """A value that must be an IR expression (a scalar or a vector)."""
    if isinstance(value, Pointer | PlacePointer):
        raise reader.refuse("a pointer used as a number", cursor, "compare pointers with each other, or index instead")
    if isinstance(value, RecordValue):
        raise reader.refuse(f"a value of '{value.type.name}' used as a number", cursor, "use its members")
    if isinstance(value, ArrayValue):
        raise reader.refuse("an array used as a number", cursor, "index it")
    if isinstance(value, NoValue):
        raise reader.refuse("a void expression used as a value", cursor)
    return value


def _access(reader: Reader, pointer: Pointer, cursor: Cursor) -> tuple[Buffer, int, int]:
    """The buffer, its element size and the pointee's size, in bytes; refuses what cannot be an access of whole elements."""
    buffer = pointer.buffer
    if buffer is None:
        raise reader.refuse("access through a null pointer", cursor, "give the pointer a buffer")
    size = size_of(pointer.pointee)
    if size is None or isinstance(pointer.pointee, PointerType):
        raise reader.refuse(f"access of '{describe(pointer.pointee)}' through a pointer", cursor, "use buffers of scalars")
    element = scalar(buffer.dtype).bytes
    if (size > element and size % element) or (size < element and element % size):
        raise reader.refuse(f"view of a buffer of {buffer.dtype} as '{describe(pointer.pointee)}'", cursor, "use a type whose size divides")
    return buffer, element, size


def cell(reader: Reader, pointer: Pointer, cursor: Cursor) -> tuple[Buffer, tuple[Expr, ...]]:
    """The buffer and index of ``*pointer``, which is exactly one of its elements (perhaps seen as another type of the same width)."""
    buffer, element, size = _access(reader, pointer, cursor)
    if size != element or isinstance(buffer.dtype, Vec):
        raise reader.refuse(f"'{describe(pointer.pointee)}' in a buffer of {buffer.dtype}", cursor, "use elements of the buffer's own size")
    return buffer, _unflatten(buffer, offset_divided(pointer.offset, element // pointer.unit))


def _load_memory(reader: Reader, pointer: Pointer, cursor: Cursor) -> Value:
    pointee = pointer.pointee
    if isinstance(pointee, ArrayType):
        return view(pointer, pointee.element, pointer.const)
    if isinstance(pointee, RecordType):
        fields = {f.name: _load_whole(reader, Memory(displaced(pointer, f.offset, f.type)), cursor) for f in pointee.fields}
        return RecordValue(pointee, fields)
    buffer, element, size = _access(reader, pointer, cursor)
    if not isinstance(pointee, DType | Vec):
        raise reader.refuse(f"access of '{describe(pointee)}' through a pointer", cursor, "use buffers of scalars")
    own = scalar(buffer.dtype)
    if size >= element:
        type_: Type = own if size == element else Vec(own, size // element)
        raw = Load(buffer.sym, _unflatten(buffer, offset_divided(pointer.offset, element // pointer.unit)), type_)
        return _reinterpret(reader, raw, pointee, cursor)
    ratio = element // pointer.unit
    offset = convert(pointer.offset, DType.I64)
    word_type, part_type = arithmetic.unsigned_of(element * 8), arithmetic.unsigned_of(size * 8)
    word = bitcast(Load(buffer.sym, _unflatten(buffer, binary("div", offset, Const(ratio, DType.I64))), own), word_type)
    shift = offset_scaled(binary("mod", offset, Const(ratio, DType.I64)), pointer.unit * 8)
    part = convert(binary("shr", word, convert(shift, word_type)), part_type)
    return _reinterpret(reader, part, pointee, cursor)


def _reinterpret(reader: Reader, value: Expr, type_: Type, cursor: Cursor) -> Expr:
    if value.type == type_ or (isinstance(type_, Vec) and type_.lanes == 1 and value.type == type_.dtype):
        return value if value.type == type_ else convert(value, type_)
    if DType.BOOL in (scalar(value.type), scalar(type_)):
        raise reader.refuse(f"view of {value.type} as {type_}", cursor, "use an 8-bit integer type")
    return bitcast(value, type_)


# --------------------------------------------------------------------------------------------------------- storing


def store(reader: Reader, place: Place, value: Value, cursor: Cursor) -> None:
    """Emits ``place = value``; the value has the place's type."""
    where = reader.location(cursor)
    match place:
        case Element(buffer, index, _):
            reader.emit(Store(buffer.sym, index, scalar_value(reader, value, cursor), loc=where))
        case Memory(pointer):
            _store_memory(reader, pointer, value, cursor)
        case LanePlace(Memory(pointer), i):
            _store_memory(reader, _lane_address(pointer, i), value, cursor)
        case LanePlace(base, i):
            if isinstance(base, Renamed) and base.value is None and isinstance(base.type, Vec):
                base.value = Broadcast(literal(0, base.type.dtype), base.type.lanes)  # lanes not set yet have no value in C
            vector = scalar_value(reader, load(reader, base, cursor), cursor)
            store(reader, base, with_lane(vector, i, scalar_value(reader, value, cursor)), cursor)
        case AnyLane(base, index):
            vector = scalar_value(reader, load(reader, base, cursor), cursor)
            store(reader, base, arithmetic.with_lane_at(vector, index, scalar_value(reader, value, cursor)), cursor)
        case RecordPlace(type_, fields):
            if not isinstance(value, RecordValue):
                raise reader.refuse(f"this assignment to '{type_.name}'", cursor)
            pinned = reader.snapshot(value)
            assert isinstance(pinned, RecordValue)
            for name, field in fields.items():
                store(reader, field, pinned.fields[name], cursor)
        case PointerVariable():
            _store_pointer(reader, place, value, cursor)
        case ArrayPlace():
            _store_array(reader, place, value, cursor)
        case Settled():
            return
        case Renamed():
            rename(reader, place, value, cursor)
        case Fixed():
            raise InternalError("a place that was taken for constant is assigned", where)


def rename(reader: Reader, place: Renamed, value: Value, cursor: Cursor) -> None:
    """Gives a variable its next value, under its own name."""
    if isinstance(value, Pointer) and isinstance(place.type, PointerType):
        target = view(value, place.type.pointee, place.type.const) if value.buffer is not None else value
        place.value = Pointer(target.buffer, reader.let(place.name, target.offset, cursor), target.unit, target.pointee, target.const)
    elif isinstance(value, PlacePointer):
        place.value = value
    else:
        place.value = reader.let(place.name, scalar_value(reader, value, cursor), cursor)


def _store_array(reader: Reader, place: Place, value: Value, cursor: Cursor) -> None:
    if not isinstance(value, ArrayValue):
        raise reader.refuse("assignment to an array", cursor, "copy it element by element")
    for i, item in enumerate(value.items):
        store(reader, element(reader, place, literal(i, DType.I32), cursor), item, cursor)


def _store_pointer(reader: Reader, place: PointerVariable, value: Value, cursor: Cursor) -> None:
    if not isinstance(value, Pointer):
        raise reader.refuse(f"this address assigned to pointer '{place.name}'", cursor, "point into an array or a buffer")
    if value.buffer is None:
        if place.buffer is None:
            return  # a null initialiser: the buffer is known from the first real assignment on
        raise reader.refuse(f"pointer '{place.name}' is set to null after it was used", cursor, "use a flag instead")
    target = view(value, place.type.pointee)
    if place.buffer is None or place.home is reader.out:
        place.buffer, place.unit = target.buffer, target.unit
    if place.buffer != target.buffer:
        raise reader.refuse(
            f"pointer '{place.name}' may point into '{place.buffer.sym.name if place.buffer else 'null'}' or '{value.buffer.sym.name}': "
            "conditional pointers are not supported yet",
            cursor,
            "use one pointer for each buffer",
        )
    if target.unit % place.unit:
        raise reader.refuse(f"pointer '{place.name}' is assigned addresses of different granularity", cursor, "use separate pointers")
    offset = offset_scaled(target.offset, target.unit // place.unit)
    reader.emit(Store(place.sym, (), convert(offset, DType.I64), loc=reader.location(cursor)))


def _store_memory(reader: Reader, pointer: Pointer, value: Value, cursor: Cursor) -> None:
    if isinstance(pointer.pointee, ArrayType):
        _store_array(reader, Memory(pointer), value, cursor)
        return
    if isinstance(pointer.pointee, RecordType):
        if not isinstance(value, RecordValue):
            raise reader.refuse(f"this assignment to '{pointer.pointee.name}'", cursor)
        pinned = reader.snapshot(value)
        assert isinstance(pinned, RecordValue)
        for field in pointer.pointee.fields:
            _store_memory(reader, displaced(pointer, field.offset, field.type), pinned.fields[field.name], cursor)
        return
    buffer, element, size = _access(reader, pointer, cursor)
    if size < element:
        raise reader.refuse(
            f"store of '{describe(pointer.pointee)}' into a buffer of {buffer.dtype}",
            cursor,
            "declare the buffer with the type that is stored",
        )
    own = scalar(buffer.dtype)
    type_: Type = own if size == element else Vec(own, size // element)
    expr = scalar_value(reader, value, cursor)
    if isinstance(expr.type, Vec) and expr.type.lanes == 1 and not isinstance(type_, Vec):
        expr = lane(expr, 0)
    index = _unflatten(buffer, offset_divided(pointer.offset, element // pointer.unit))
    reader.emit(Store(buffer.sym, index, _reinterpret(reader, expr, type_, cursor), loc=reader.location(cursor)))
