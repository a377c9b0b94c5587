"""What C++ expressions denote: values (typed IR expressions, pointers, records) and places (what can be read and assigned)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.frontend.reader.types import ArrayType, CType, PointerType, RecordType
from synth.ir.dtypes import DType, Type
from synth.ir.grammar import Const, Expr, Space, Stmt, Sym


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of the IR. ``shape``: ``()`` for a mutable scalar or register, one or more extents for an array, None for a flat
    buffer of unknown extent (an entry parameter). ``dtype`` is a ``Vec`` only for a register."""

    sym: Sym
    dtype: Type
    shape: tuple[Expr, ...] | None
    space: Space = Space.LOCAL


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address inside one statically known buffer: ``offset`` (i64) counts units of ``unit`` bytes. ``buffer`` None is the null pointer.

    ``unit`` is the smallest of the buffer's element size and of the sizes of the pointees the address was viewed as, so that
    every address of the program is a whole number of units.
    """

    buffer: Buffer | None
    offset: Expr
    unit: int
    pointee: CType
    const: bool = False


@dataclass(frozen=True, slots=True)
class PlacePointer:
    """The address of something that is not memory in the IR: a record of fields, a register."""

    place: Place


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A record by value: the value of each field."""

    type: RecordType
    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An array member of a record by value: its elements, row-major (an element of array type is an ``ArrayValue`` itself)."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class NoValue:
    """The value of a ``void`` expression."""


Value = Expr | Pointer | PlacePointer | RecordValue | ArrayValue | NoValue


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a buffer, all dimensions indexed, or (rank 0) a mutable scalar or vector register; a ``Vec`` type
    reads as many elements from ``index`` on."""

    buffer: Buffer
    index: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Memory:
    """``*pointer``."""

    pointer: Pointer


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """An array with its declared shape, or a row of one: ``index`` are the leading dimensions given so far. An array whose rows are
    addressed through pointers is flat instead: a ``Memory`` of array type."""

    buffer: Buffer
    index: tuple[Expr, ...]
    type: ArrayType


@dataclass(frozen=True, slots=True)
class LanePlace:
    """Lane ``lane`` of a vector place (``v.x``)."""

    base: Place
    lane: int


@dataclass(frozen=True, slots=True)
class AnyLane:
    """A lane of a vector place that ``index`` chooses when the program runs (``v[i]``)."""

    base: Place
    index: Expr


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """A record of separate places."""

    type: RecordType
    fields: Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that has a name but cannot be assigned: a local that is never modified, a bound parameter, a temporary."""

    value: Value
    type: CType


@dataclass(frozen=True, slots=True)
class Settled:
    """A variable whose value is known for good and that swallows assignments: a status that is always success."""

    value: Value
    type: CType


@dataclass(slots=True)
class PointerVariable:
    """A pointer that is reassigned: a mutable offset (``sym``, a rank-0 i64 buffer) into one buffer, known from the first assignment on.

    ``home`` is the body that declares it: an assignment there is unconditional and may change the buffer for what follows."""

    sym: Sym
    type: PointerType
    buffer: Buffer | None = None
    unit: int = 1
    name: str = ""
    home: list[Stmt] | None = None


@dataclass(slots=True)
class Renamed:
    """A variable all of whose changes follow its declaration in straight line: each gives it a new immutable value.
    ``value`` is None before the first."""

    name: str
    type: CType
    value: Value | None = None


Place = Element | Memory | ArrayPlace | LanePlace | AnyLane | RecordPlace | Fixed | Settled | PointerVariable | Renamed
PLACES = (Element, Memory, ArrayPlace, LanePlace, AnyLane, RecordPlace, Fixed, Settled, PointerVariable, Renamed)

ZERO = Const(0, DType.I64)
