"""Value types of the IR: twelve scalar types and fixed-length vectors of them.

Sizes and ranges follow ISO C for the LP64 model that CUDA, HIP, BANG C and x86-64 Linux share.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DType(Enum):
    """A scalar type. The value is its spelling in the textual form."""

    BOOL = "bool"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"

    # Asked for millions of times by the analyses: computed once, hashed by identity.
    is_float: bool
    is_signed_int: bool
    is_unsigned_int: bool
    is_int: bool  # ``bool`` is not one of them
    bits: int  # storage width; ``bool`` is stored in 8
    bytes: int

    def __init__(self, name: str) -> None:
        self.is_float = name[0] == "f" or name == "bf16"
        self.is_signed_int = name[0] == "i"
        self.is_unsigned_int = name[0] == "u"
        self.is_int = self.is_signed_int or self.is_unsigned_int
        self.bits = 8 if name == "bool" else int(name.lstrip("biuf"))
        self.bytes = self.bits // 8

    __hash__ = object.__hash__

    @property
    def min_int(self) -> int:
        """Smallest value of an integer type or ``bool``. Raises TypeError for floats."""
        if self.is_float:
            raise TypeError(f"{self.value} has no integer range")
        return -(1 << (self.bits - 1)) if self.is_signed_int else 0

    @property
    def max_int(self) -> int:
        """Largest value of an integer type or ``bool``. Raises TypeError for floats."""
        if self.is_float:
            raise TypeError(f"{self.value} has no integer range")
        if self is DType.BOOL:
            return 1
        return (1 << (self.bits - 1)) - 1 if self.is_signed_int else (1 << self.bits) - 1

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Vec:
    """``lanes`` values of one scalar type: ``float4``, ``__m512``, ``half2``; ``Vec(BOOL, n)`` is a mask."""

    dtype: DType
    lanes: int

    def __str__(self) -> str:
        return f"{self.dtype}x{self.lanes}"


Type = DType | Vec


def scalar(type_: Type) -> DType:
    """The element type of a vector, or the scalar type itself."""
    return type_.dtype if isinstance(type_, Vec) else type_


def lanes(type_: Type) -> int:
    """Number of lanes; 1 for a scalar."""
    return type_.lanes if isinstance(type_, Vec) else 1


def with_scalar(type_: Type, dtype: DType) -> Type:
    """The same shape (scalar, or vector of the same length) over another element type."""
    return Vec(dtype, type_.lanes) if isinstance(type_, Vec) else dtype
