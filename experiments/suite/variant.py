"""How a source file of the suite is declared: which operator and data it computes, and how its sizes are given to it.

The table of a dialect is ``variants_<dialect>.py``: ``VARIANTS`` maps an operator of ``shapes.OPERATORS`` to its sources, which lie in the
folder ``<dialect>``. Rules of a source file:

* its entry is ``extern "C" void <operator>(...)`` (plain C: no ``extern``) with the arguments ``inputs``, then ``output``, of its operator,
  in this order, as pointers to dense row-major host memory; then its scalar sizes as ints, if it has any. Names of pointers are free,
  except for those of ``integers`` (``--values`` speaks of them);
* sizes are either macros with a default each (``#ifndef ROWS``), named like the dimensions and listed in ``macros``, or the scalar
  parameters of the entry in their order, listed in ``binds`` as (parameter, dimension); never both, never literals;
* it is right for all sizes that are positive, unless ``multiple`` names dimensions that must be multiples of a number (tiles of tensor
  units without tails);
* ``extents`` names the arguments whose sizes do not follow from the accesses (those that data decides), where the source allocates none;
* ``data`` says what the pointers point to, see ``Data``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from synth.ir.dtypes import DType


class Data(Enum):
    """What an operator's tensors hold; the operators' own types (int32 shapes) stay. Integer arrays really are integers."""

    F32 = "f32"
    F16 = "f16"  # inputs are half, the output float
    U8S8 = "u8s8"  # the first input is uint8, the second int8, the output int32
    S8S8 = "s8s8"  # both inputs are int8, the output int32

    @property
    def inputs(self) -> tuple[DType, DType]:
        """The types of the first input and of the others."""
        return _INPUTS[self]

    @property
    def output(self) -> DType:
        return DType.I32 if self.is_integer else DType.F32

    @property
    def is_integer(self) -> bool:
        return self in (Data.U8S8, Data.S8S8)


_INPUTS = {
    Data.F32: (DType.F32, DType.F32),
    Data.F16: (DType.F16, DType.F16),
    Data.U8S8: (DType.U8, DType.I8),
    Data.S8S8: (DType.I8, DType.I8),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One source file of an operator, by the rules above."""

    file: str
    macros: tuple[str, ...] = ()
    binds: tuple[tuple[str, str], ...] = ()
    data: Data = Data.F32
    multiple: Mapping[str, int] = field(default_factory=dict)
    extents: tuple[str, ...] = ()

    def takes(self, dims: Mapping[str, int]) -> bool:
        """Whether the source is written for these sizes."""
        return all(dims[name] % factor == 0 for name, factor in self.multiple.items())


def same(*names: str) -> tuple[tuple[str, str], ...]:
    """``binds`` of parameters that are called like their dimensions, in lower case."""
    return tuple((name.lower(), name) for name in names)


# The dimensions of the operators, as sources usually take them.
GEMM = ("M", "K", "N")
BMM = ("BATCH", *GEMM)
LAYERNORM = ("BATCH", "SEQ", "DIM")
POOL = ("BATCH", "SIZE", "CHANNELS", "KERNEL", "STRIDE")
CONV = ("BATCH", "SIZE", "IN_CHANNELS", "OUT_CHANNELS", "KERNEL", "STRIDE")
DEPTHWISE = ("SIZE", "KERNEL", "CHANNELS")
DEFORMABLE = ("BATCH", "PIXELS", "HEADS", "DIM", "QUERIES", "LEVELS", "POINTS")
MHA = ("BATCH", "SEQ", "HEADS", "DIM")
FLASH = ("BATCH", "HEADS", "SEQ", "DIM")
