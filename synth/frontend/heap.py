"""Host memory of C and C++: malloc and new, std::vector, memcpy and memset, as buffers of the IR."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from clang.cindex import CursorKind, TypeKind

from synth.frontend import known, sizes
from synth.frontend.reader import clang, expressions, lvalues, memory
from synth.frontend.reader.arithmetic import binary, convert, literal, offset_divided
from synth.frontend.reader.clang import ClangType, Cursor
from synth.frontend.reader.places import ZERO, Buffer, Fixed, Memory, NoValue, Place, PlacePointer, Pointer, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import CType, PointerType, ctype_of, describe, element_dtype, size_of
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Alloc, Call, Const, Expr, Region, Space, Sym

_CASTS = (CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR)
_LOOKED_THROUGH = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR)

# Position of the byte count among the arguments.
_ALLOCATORS = {"malloc": 0, "aligned_alloc": 1, "_mm_malloc": 0}
_RELEASERS = ("free", "_mm_free")


@dataclass(slots=True)
class Heap:
    """Reads host memory management. ``typed`` caches, per function, the pointee each allocating call is cast to; ``lengths`` are the
    element counts of vectors."""

    typed: dict[int, dict[int, tuple[ClangType, str]]] = field(default_factory=dict)
    lengths: dict[Sym, Expr] = field(default_factory=dict)

    # -------------------------------------------------------------------------------------------------------- hooks

    def call(self, reader: Reader, name: str, call: Cursor) -> Place | Value | None:
        arguments = list(call.get_arguments())
        if name in _ALLOCATORS:
            return self.allocate(reader, call, expressions.read_scalar(reader, arguments[_ALLOCATORS[name]]), Space.HOST)
        if name == "calloc":
            count, each = (expressions.read_scalar(reader, a) for a in arguments)
            found = self.allocate(reader, call, binary("mul", convert(count, DType.U64), convert(each, DType.U64)), Space.HOST)
            assert isinstance(found, Pointer) and found.buffer is not None and found.buffer.shape
            _fill(reader, found, found.buffer.shape[0], literal(0, scalar(found.buffer.dtype)), call)
            return found
        if name in _RELEASERS:
            return NoValue()
        if name in ("memcpy", "memmove"):
            return copy(reader, call, arguments[0], arguments[1], arguments[2])
        if name == "memset":
            return fill(reader, call, arguments[0], arguments[1], arguments[2])
        if name.startswith("vector::"):
            return self._vector_member(reader, name[8:], call, arguments)
        return None

    def expression(self, reader: Reader, cursor: Cursor) -> Value | None:
        if cursor.kind == CursorKind.CXX_DELETE_EXPR:
            return NoValue()
        if cursor.kind == CursorKind.CXX_NEW_EXPR:
            return self._new(reader, cursor)
        return None

    def declare(self, reader: Reader, declaration: Cursor) -> Place | None:
        """A ``std::vector`` of scalars, as a buffer."""
        element = vector_element(declaration.type)
        if element is None:
            return None
        pointee = ctype_of(element, reader.location(declaration), reader.dialect.record)
        arguments, braced = _constructor_arguments(declaration)
        if braced or len(arguments) > 2 or any(reader_is_pointer(a) for a in arguments):
            raise reader.refuse(f"this initialisation of vector '{declaration.spelling}'", declaration, "give it a size and a value")
        count = convert(expressions.read_scalar(reader, arguments[0]), DType.I64) if arguments else literal(0, DType.I64)
        pointer = new_buffer(reader, declaration.spelling, pointee, sizes.plain(count), Space.HOST, declaration)
        assert pointer.buffer is not None and pointer.buffer.shape
        dtype = scalar(pointer.buffer.dtype)
        value = convert(expressions.read_scalar(reader, arguments[1]), dtype) if len(arguments) > 1 else literal(0, dtype)
        _fill(reader, pointer, pointer.buffer.shape[0], value, declaration)
        self.lengths[pointer.buffer.sym] = count
        return Fixed(pointer, PointerType(pointee))

    # --------------------------------------------------------------------------------------------------- allocations

    def allocate(self, reader: Reader, call: Cursor, bytes_: Expr, space: Space) -> Value:
        """Fresh memory of ``bytes_`` bytes, typed by the cast around the call."""
        pointee, name = self._pointee(reader, call)
        if pointee is None or element_dtype(pointee) is None:
            what = "untyped memory" if pointee is None else f"memory of '{describe(pointee)}'"
            raise reader.refuse(f"allocation of {what}", call, "cast it to a pointer to scalars where it is allocated")
        dtype = element_dtype(pointee)
        assert dtype is not None
        count = sizes.element_count(known.resolved(reader, bytes_), dtype.bytes, reader.values)
        return new_buffer(reader, name or "heap", pointee, count, space, call)

    def _pointee(self, reader: Reader, call: Cursor) -> tuple[CType | None, str]:
        found = self._found(reader).get(call.hash)
        if found is None:
            return None, ""
        return ctype_of(found[0], reader.location(call), reader.dialect.record), found[1]

    def _found(self, reader: Reader) -> dict[int, tuple[ClangType, str]]:
        if reader.function is None:
            return {}
        function = reader.function.cursor
        if function.hash not in self.typed:
            self.typed[function.hash] = {}
            _allocations(function, None, "", self.typed[function.hash])
        return self.typed[function.hash]

    def _new(self, reader: Reader, cursor: Cursor) -> Value:
        pointer = reader.ctype(cursor)
        assert isinstance(pointer, PointerType)
        dtype = element_dtype(pointer.pointee)
        given = [c for c in clang.operands(cursor) if c.kind.is_expression() and c.kind != CursorKind.INIT_LIST_EXPR]
        spelled = [t for t, _ in clang.tokens(cursor)]
        if dtype is None or "[" not in spelled or not given:
            raise reader.refuse("this form of new", cursor, "allocate an array of scalars: new float[n]")
        count = sizes.plain(expressions.read_scalar(reader, given[0]))
        each = (size_of(pointer.pointee) or dtype.bytes) // dtype.bytes
        total = count if each == 1 else binary("mul", count, literal(each, DType.I64))
        _, name = self._found(reader).get(cursor.hash, (None, ""))
        made = new_buffer(reader, name or "heap", pointer.pointee, total, Space.HOST, cursor)
        closing = spelled[-1]
        if closing in ("}", ")") and "]" in spelled and spelled[-2] in ("{", "("):  # new float[n]()
            _fill(reader, made, total, literal(0, dtype), cursor)
        return made

    # ------------------------------------------------------------------------------------------------------- vectors

    def _vector_member(self, reader: Reader, name: str, call: Cursor, arguments: list[Cursor]) -> Place | Value | None:
        first = clang.strip(clang.children(call)[0]) if clang.children(call) else call
        if first.kind == CursorKind.MEMBER_REF_EXPR:
            inner = clang.operands(first)
            place = lvalues.read_place(reader, inner[0]) if inner else None
        else:
            place, arguments = lvalues.read_place(reader, arguments[0]), arguments[1:]
        if not isinstance(place, Fixed) or not isinstance(place.value, Pointer) or place.value.buffer is None:
            raise reader.refuse("this use of a vector", call, "use a local vector")
        pointer = place.value
        if name in ("data", "begin", "cbegin"):
            return pointer
        length = self.lengths.get(place.value.buffer.sym)
        if length is None:
            return None
        if name == "size":
            return convert(length, DType.U64)
        if name in ("end", "cend"):
            return memory.advance(reader, pointer, length, call)
        if name in ("operator[]", "at"):
            index = expressions.read_scalar(reader, arguments[0])
            moved = memory.advance(reader, pointer, index, call)
            assert isinstance(moved, Pointer)
            return Memory(moved)
        raise reader.refuse(f"vector member '{name}' is not supported", call, "use an array of fixed size")


def vector_element(type_: ClangType) -> ClangType | None:
    """The element type of ``std::vector<T>``; None for other types."""
    canonical = type_.get_canonical()
    if canonical.kind != TypeKind.RECORD or canonical.get_num_template_arguments() < 1:
        return None
    declaration = canonical.get_declaration()
    if declaration.spelling != "vector" or declaration.semantic_parent.spelling != "std":
        return None
    return canonical.get_template_argument_type(0)


def _constructor_arguments(declaration: Cursor) -> tuple[list[Cursor], bool]:
    value = clang.initializer(declaration)
    if value is None:
        return [], False
    inner = clang.strip(value)
    if inner.kind == CursorKind.INIT_LIST_EXPR:
        return [], True
    found = list(inner.get_arguments()) if inner.kind == CursorKind.CALL_EXPR else []
    return found, any(a.kind == CursorKind.INIT_LIST_EXPR for a in found)


def reader_is_pointer(cursor: Cursor) -> bool:
    return bool(cursor.type.get_canonical().kind == TypeKind.POINTER)


def _allocations(cursor: Cursor, target: ClangType | None, name: str, found: dict[int, tuple[ClangType, str]]) -> None:
    """Notes for every call the pointee of the innermost cast to a typed pointer around it, and the variable that it initialises."""
    kind = cursor.kind
    if kind == CursorKind.CXX_NEW_EXPR:
        found[cursor.hash] = cursor.type, name
        target, name = None, ""
    elif kind == CursorKind.CALL_EXPR:
        if target is not None:
            found[cursor.hash] = target, name
        target, name = None, ""
    elif kind in _CASTS or kind in _LOOKED_THROUGH:
        type_ = cursor.type.get_canonical()
        if type_.kind == TypeKind.POINTER and type_.get_pointee().get_canonical().kind != TypeKind.VOID:
            target = type_.get_pointee()
        elif kind in _CASTS:
            target = None
    else:
        target, name = None, ""
        if kind == CursorKind.VAR_DECL:
            name = cursor.spelling
        elif kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(cursor) == "=":
            assigned = clang.strip(clang.operands(cursor)[0])
            name = assigned.spelling if assigned.kind == CursorKind.DECL_REF_EXPR else ""
    for child in cursor.get_children():
        _allocations(child, target, name, found)


# --------------------------------------------------------------------------------------------------------- buffers


def new_buffer(reader: Reader, name: str, pointee: CType, count: Expr, space: Space, cursor: Cursor) -> Pointer:
    """Emits the ``Alloc`` of a flat buffer of ``count`` elements and returns its address."""
    dtype = element_dtype(pointee)
    if dtype is None:
        raise reader.refuse(f"memory of '{describe(pointee)}'", cursor, "use buffers of scalars, one for each member")
    sym = Sym(name)
    extent = reader.let(f"{name}.extent", count, cursor)
    reader.emit(Alloc(sym, dtype, (extent,), space, loc=reader.location(cursor)))
    return Pointer(Buffer(sym, dtype, (extent,), space), ZERO, dtype.bytes, pointee)


def _fill(reader: Reader, pointer: Pointer, count: Expr, value: Expr, cursor: Cursor) -> None:
    assert pointer.buffer is not None
    region = Region(pointer.buffer.sym, (known.resolved(reader, _element_offset(pointer)),), (count,))
    reader.emit(Call("host.fill", (region,), (value,), reader.location(cursor)))


def _element_offset(pointer: Pointer) -> Expr:
    assert pointer.buffer is not None
    return offset_divided(pointer.offset, scalar(pointer.buffer.dtype).bytes // pointer.unit)


def region(reader: Reader, pointer: Value, bytes_: Expr, cursor: Cursor) -> tuple[Region, DType]:
    """``bytes_`` bytes from an address on, as a region in elements, and the element type."""
    if isinstance(pointer, PlacePointer):
        found = memory.address(reader, pointer.place, cursor)
        pointer = found
    if not isinstance(pointer, Pointer) or pointer.buffer is None:
        raise reader.refuse("a copy to or from something that is not a buffer", cursor, "copy arrays of scalars")
    buffer = pointer.buffer
    if not isinstance(buffer.dtype, DType):
        raise reader.refuse("a copy of a vector register", cursor, "copy arrays of scalars")
    count = sizes.element_count(known.resolved(reader, bytes_), buffer.dtype.bytes, reader.values)
    if buffer.shape == ():
        if not isinstance(count, Const) or count.value != 1:
            raise reader.refuse(f"a copy of more than the variable '{buffer.sym.name}'", cursor, "copy sizeof that variable")
        return Region(buffer.sym, ()), buffer.dtype
    if buffer.shape is not None and len(buffer.shape) != 1:
        raise reader.refuse(f"a copy of the array '{buffer.sym.name}' of several dimensions", cursor, "declare it flat")
    return Region(buffer.sym, (known.resolved(reader, _element_offset(pointer)),), (count,)), buffer.dtype


def copy(reader: Reader, call: Cursor, target: Cursor, source: Cursor, bytes_: Cursor) -> Value:
    """``memcpy`` and ``cudaMemcpy`` of any kind."""
    values = reader.in_order(
        lambda: expressions.read_value(reader, target),
        lambda: expressions.read_value(reader, source),
        lambda: expressions.read_value(reader, bytes_),
    )
    size = memory.scalar_value(reader, values[2], bytes_)
    to, to_dtype = region(reader, values[0], size, target)
    from_, from_dtype = region(reader, values[1], size, source)
    if to_dtype is not from_dtype:
        raise reader.refuse(f"a copy from {from_dtype} to {to_dtype} buffers", call, "use one element type for both")
    reader.emit(Call("host.copy", (to,), (from_,), reader.location(call)))
    return NoValue()


def fill(reader: Reader, call: Cursor, target: Cursor, byte: Cursor, bytes_: Cursor) -> Value:
    """``memset`` and ``cudaMemset``: every byte set, as a value of the buffer's type."""
    pointer = expressions.read_value(reader, target)
    value = expressions.read_scalar(reader, byte)
    size = expressions.read_scalar(reader, bytes_)
    to, dtype = region(reader, pointer, size, target)
    if isinstance(value, Const):
        filled: Expr = literal(repeated(int(value.value), dtype), dtype)
    elif dtype.bytes == 1:
        filled = convert(value, dtype)
    else:
        raise reader.refuse(f"memset of {dtype} with a byte that is not a literal", call, "set it to zero, or write a loop")
    reader.emit(Call("host.fill", (to,), (filled,), reader.location(call)))
    return NoValue()


def repeated(byte: int, dtype: DType) -> int | float:
    """The value of ``dtype`` all of whose bytes are ``byte``."""
    pattern = bytes([byte & 0xFF]) * dtype.bytes
    if dtype is DType.F32:
        return float(struct.unpack("<f", pattern)[0])
    if dtype is DType.F64:
        return float(struct.unpack("<d", pattern)[0])
    if dtype is DType.F16:
        return float(struct.unpack("<e", pattern)[0])
    if dtype is DType.BF16:
        return float(struct.unpack("<f", b"\0\0" + pattern)[0])
    return int.from_bytes(pattern, "little", signed=dtype.is_signed_int)
