"""The interpreter's memory: every buffer a list of values with bounds, an uninitialised element is ``None``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.errors import XpilerError
from synth.ir.dtypes import DType, Type
from synth.ir.grammar import Location
from synth.ir.rounding import round_float
from synth.ir.values import Scalar, Value

# numpy carries bf16 as its raw bits.
_KINDS = {"i": "int", "u": "uint", "f": "float"}
_ARRAY_DTYPES: dict[DType, np.dtype[Any]] = {
    d: np.dtype(f"{_KINDS[d.value[0]]}{d.bits}") for d in DType if d not in (DType.BOOL, DType.BF16)
}
_ARRAY_DTYPES |= {DType.BOOL: np.dtype(np.bool_), DType.BF16: np.dtype(np.uint16)}


class InterpreterError(XpilerError):
    """A program did something that has no meaning. ``kind`` is ``out_of_bounds``, ``uninitialised``, ``undefined`` (an operation),
    ``divergence`` (a barrier that not all threads reach), ``race``, ``limit`` (of steps) or ``argument``."""

    def __init__(self, kind: str, message: str, location: Location | None = None) -> None:
        super().__init__(message, location)
        self.kind = kind


@dataclass(slots=True)
class Memory:
    """One buffer. ``cells`` are row-major values of the element type, ``None`` where nothing was written."""

    name: str
    type: Type
    shape: tuple[int, ...]
    cells: list[Value | None]

    def position(self, index: tuple[int, ...], width: int = 1) -> int:
        """The cell of an index, from which ``width`` cells of the last dimension are accessed. Raises InterpreterError."""
        at = 0
        last = len(index) - 1
        for dim, (i, extent) in enumerate(zip(index, self.shape, strict=True)):
            if i < 0 or i + (width if dim == last else 1) > extent:
                span = f"{i}" if width == 1 or dim != last else f"{i}..{i + width - 1}"
                raise InterpreterError("out_of_bounds", f"index {span} of '{self.name}' is outside dimension {dim} of {extent} elements")
            at = at * extent + i
        return at

    def read(self, at: int) -> Value:
        value = self.cells[at]
        if value is None:
            raise InterpreterError("uninitialised", f"element {at} of '{self.name}' is read before it is written")
        return value


def from_array(name: str, dtype: DType, array: NDArray[Any]) -> Memory:
    """The memory of an argument. Raises InterpreterError when the array is not flat or of another dtype."""
    if array.ndim != 1 or array.dtype != _ARRAY_DTYPES[dtype]:
        raise InterpreterError("argument", f"'{name}' wants a flat array of {_ARRAY_DTYPES[dtype]}, not {array.ndim}-d {array.dtype}")
    if dtype is DType.BF16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return Memory(name, dtype, (len(array),), array.tolist())


def to_array(memory: Memory, array: NDArray[Any]) -> None:
    """Writes the initialised elements back."""
    if memory.type is DType.BF16:
        for i, value in enumerate(memory.cells):
            if isinstance(value, float):
                array[i] = np.float32(value).view(np.uint32) >> 16
    elif None in memory.cells:
        for i, value in enumerate(memory.cells):
            if value is not None:
                array[i] = value
    else:
        array[:] = memory.cells


def typed_scalar(name: str, dtype: DType, value: Any) -> Scalar:
    """A scalar argument as a value of its type. Raises InterpreterError when it does not fit."""
    if dtype is DType.BOOL:
        return bool(value)
    if dtype.is_float:
        return round_float(float(value), dtype)
    if int(value) != value or not dtype.min_int <= int(value) <= dtype.max_int:
        raise InterpreterError("argument", f"'{name}' = {value} is no {dtype}")
    return int(value)
