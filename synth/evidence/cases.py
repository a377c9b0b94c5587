"""Unit tests as data: one call of an entry with concrete arguments, and what is observed afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.ir.dtypes import DType
from synth.ir.grammar import Role

Array = NDArray[Any]

# numpy carries bf16 as its raw bits
NUMPY_DTYPES: dict[DType, Any] = {
    DType.BOOL: np.bool_,
    DType.I8: np.int8,
    DType.U8: np.uint8,
    DType.I16: np.int16,
    DType.U16: np.uint16,
    DType.I32: np.int32,
    DType.U32: np.uint32,
    DType.I64: np.int64,
    DType.U64: np.uint64,
    DType.F16: np.float16,
    DType.BF16: np.uint16,
    DType.F32: np.float32,
    DType.F64: np.float64,
}


@dataclass(frozen=True, slots=True)
class BufferArg:
    """A flat buffer argument. ``data`` is what it holds at entry, or None for an output that is poisoned before the call."""

    name: str
    dtype: DType
    count: int
    role: Role
    data: Array | None = None


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A scalar argument by value."""

    name: str
    dtype: DType
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class TestCase:
    """One call: arguments in the order of the entry's parameters. ``family`` names the kind of input (random, zeros, signs, ...).
    An ``optional`` case is dropped when the source itself fails on it (a size that the source was not written for)."""

    entry: str
    args: tuple[BufferArg | ScalarArg, ...]
    family: str
    seed: int
    sizes: dict[str, int] = field(default_factory=dict)
    optional: bool = False

    __test__ = False  # not a pytest class
