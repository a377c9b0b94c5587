"""C++ types as the reader sees them: the IR's value types, and what the frontend resolves away (pointers, arrays, records).

Sizes follow LP64 (``synth.ir.dtypes``); record layouts are clang's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clang.cindex import CursorKind, TypeKind

from synth.errors import UnsupportedError
from synth.frontend.reader.clang import ClangType
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Location


@dataclass(frozen=True, slots=True)
class Void:
    """``void``."""


@dataclass(frozen=True, slots=True)
class PointerType:
    """``pointee *``; ``const`` says whether the pointee is const."""

    pointee: CType
    const: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceType:
    """``referent &`` or ``&&``; ``const`` says whether the referent is const."""

    referent: CType
    const: bool = False


@dataclass(frozen=True, slots=True)
class ArrayType:
    """``element[length]``; ``length`` is None for ``[]`` and for lengths that are not constants (VLAs)."""

    element: CType
    length: int | None


@dataclass(frozen=True, slots=True)
class FieldType:
    """A member of a record; ``offset`` in bytes."""

    name: str
    type: CType
    offset: int


@dataclass(frozen=True, slots=True)
class RecordType:
    """A struct that is replaced by its fields; ``size`` in bytes."""

    name: str
    fields: tuple[FieldType, ...]
    size: int


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type that only a dialect can give a meaning to (a lambda, a function, a handle); ``name`` is its spelling."""

    name: str


CType = DType | Vec | Void | PointerType | ReferenceType | ArrayType | RecordType | OpaqueType

_SCALARS: dict[TypeKind, DType] = {
    TypeKind.BOOL: DType.BOOL,
    TypeKind.CHAR_S: DType.I8,
    TypeKind.SCHAR: DType.I8,
    TypeKind.CHAR_U: DType.U8,
    TypeKind.UCHAR: DType.U8,
    TypeKind.SHORT: DType.I16,
    TypeKind.USHORT: DType.U16,
    TypeKind.INT: DType.I32,
    TypeKind.UINT: DType.U32,
    TypeKind.LONG: DType.I64,
    TypeKind.LONGLONG: DType.I64,
    TypeKind.ULONG: DType.U64,
    TypeKind.ULONGLONG: DType.U64,
    TypeKind.FLOAT: DType.F32,
    TypeKind.DOUBLE: DType.F64,
    TypeKind.WCHAR: DType.I32,
    TypeKind.CHAR16: DType.U16,
    TypeKind.CHAR32: DType.U32,
}

_VECTOR_BASES: dict[str, DType] = {
    "char": DType.I8, "uchar": DType.U8, "short": DType.I16, "ushort": DType.U16, "int": DType.I32, "uint": DType.U32,
    "long": DType.I64, "ulong": DType.U64, "longlong": DType.I64, "ulonglong": DType.U64, "float": DType.F32, "double": DType.F64,
}  # fmt: skip

# The vector types of vector_types.h of the CUDA toolkit; each is a record {x, y, z, w} in our headers.
VECTOR_RECORDS: dict[str, Vec] = {f"{base}{n}": Vec(dtype, n) for base, dtype in _VECTOR_BASES.items() for n in (1, 2, 3, 4)}

LANE_NAMES = "xyzw"

_POINTERS = frozenset({TypeKind.POINTER})
_REFERENCES = frozenset({TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE})
_ARRAYS = frozenset({TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY})

RecordHook = Callable[[str], CType | None]


def ctype_of(type_: ClangType, where: Location, record: RecordHook = VECTOR_RECORDS.get) -> CType:
    """The reader's type for a clang type. ``record`` maps names of records with a special meaning.

    Raises UnsupportedError, naming the type, for unions, bit-fields, classes with bases or virtual functions, member pointers,
    ``long double``, 128-bit integers and dependent types.
    """
    type_ = type_.get_canonical()
    kind = type_.kind
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == TypeKind.VOID:
        return Void()
    if kind in _POINTERS:
        pointee = type_.get_pointee()
        return PointerType(ctype_of(pointee, where, record), pointee.is_const_qualified())
    if kind in _REFERENCES:
        referent = type_.get_pointee()
        return ReferenceType(ctype_of(referent, where, record), referent.is_const_qualified())
    if kind in _ARRAYS:
        length = type_.element_count if kind == TypeKind.CONSTANTARRAY else None
        return ArrayType(ctype_of(type_.element_type, where, record), length)
    if kind in (TypeKind.VECTOR, TypeKind.EXTVECTOR):
        element = ctype_of(type_.element_type, where, record)
        if isinstance(element, DType):
            return Vec(element, type_.element_count)
    if kind == TypeKind.ENUM:
        return ctype_of(type_.get_declaration().enum_type, where, record)
    if kind == TypeKind.RECORD:
        return _record_type(type_, where, record)
    if kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO, TypeKind.NULLPTR, TypeKind.MEMBERPOINTER):
        return OpaqueType(type_.spelling)
    raise UnsupportedError(f"type '{type_.spelling}' is not supported", where, hint="use bool, 8 to 64 bit integers, float or double")


def _record_type(type_: ClangType, where: Location, record: RecordHook) -> CType:
    declaration = type_.get_declaration()
    special = record(declaration.spelling)
    if special is not None:
        return special
    name = type_.spelling.removeprefix("const ").removeprefix("volatile ")
    if declaration.kind == CursorKind.UNION_DECL:
        raise UnsupportedError(f"union '{name}' is not supported", where, hint="use reinterpret_cast or __float_as_int")
    if declaration.spelling == "" or name.startswith("(lambda"):
        return OpaqueType(name)
    for child in declaration.get_children():
        if child.kind == CursorKind.CXX_BASE_SPECIFIER:
            raise UnsupportedError(f"class '{name}' has a base class", where, hint="copy the base's members into it")
        if child.kind in (CursorKind.CXX_METHOD, CursorKind.DESTRUCTOR) and child.is_virtual_method():
            raise UnsupportedError(f"class '{name}' has virtual functions", where, hint="use plain functions")
    size = type_.get_size()
    if size < 0:
        return OpaqueType(name)
    fields = []
    for member in type_.get_fields():
        if member.is_bitfield():
            raise UnsupportedError(f"bit-field '{member.spelling}' of '{name}' is not supported", where, hint="use a plain member")
        fields.append(FieldType(member.spelling, ctype_of(member.type, where, record), member.get_field_offsetof() // 8))
    return RecordType(name, tuple(fields), size)


def size_of(type_: CType) -> int | None:
    """Size in bytes; None for what has none (``void``, ``T[]``, opaque types)."""
    match type_:
        case DType():
            return type_.bytes
        case Vec():
            return type_.dtype.bytes * type_.lanes
        case PointerType() | ReferenceType():
            return 8
        case ArrayType(element, length):
            inner = size_of(element)
            return None if inner is None or length is None else inner * length
        case RecordType():
            return type_.size
        case _:
            return None


def element_dtype(type_: CType) -> DType | None:
    """The one scalar type that fills a type without padding (``float`` for ``float4``, ``P {float x, y;}``, ``float[3]``), or None."""
    match type_:
        case DType():
            return type_
        case Vec(dtype, _):
            return dtype
        case ArrayType(element, _):
            return element_dtype(element)
        case RecordType(_, fields, size):
            found = {element_dtype(f.type) for f in fields}
            filled = sum(size_of(f.type) or 0 for f in fields)
            return found.pop() if len(found) == 1 and filled == size else None
        case _:
            return None


def has_array(type_: CType) -> bool:
    """Whether a record has an array among its members, at any depth."""
    return isinstance(type_, RecordType) and any(isinstance(f.type, ArrayType) or has_array(f.type) for f in type_.fields)


def promoted(dtype: DType) -> DType:
    """C's integer promotion (ISO C 6.3.1.1): types narrower than ``int`` become ``int``."""
    narrow = dtype in (DType.BOOL, DType.I8, DType.U8, DType.I16, DType.U16)
    return DType.I32 if narrow else dtype


def usual_type(a: DType, b: DType) -> DType:
    """The common type of the usual arithmetic conversions (ISO C 6.3.1.8)."""
    for wide in (DType.F64, DType.F32):
        if wide in (a, b):
            return wide
    a, b = promoted(a), promoted(b)
    if a is b:
        return a
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.is_unsigned_int else b


def describe(type_: CType) -> str:
    """A type as messages show it."""
    match type_:
        case DType() | Vec():
            return str(type_)
        case Void():
            return "void"
        case PointerType(pointee, _):
            return f"{describe(pointee)} *"
        case ReferenceType(referent, _):
            return f"{describe(referent)} &"
        case ArrayType(element, length):
            return f"{describe(element)}[{'' if length is None else length}]"
        case RecordType(name, _, _) | OpaqueType(name):
            return name
