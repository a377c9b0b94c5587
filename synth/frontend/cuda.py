"""CUDA C++: the table of what it does not share with HIP."""

from __future__ import annotations

from synth.frontend import gpu
from synth.frontend.gpu_language import GpuLanguage
from synth.frontend.reader.clang import CUDA_ARGUMENTS
from synth.ir.dtypes import DType
from synth.source import ReadOptions, ReadResult, Source

CUDA = GpuLanguage(
    name="cuda",
    prefix="cuda",
    arguments=lambda spec: CUDA_ARGUMENTS,
    header="cuda_runtime.h",
    lane_mask=DType.U32,
)


def read(source: Source, options: ReadOptions) -> ReadResult:
    """Reads a CUDA source. Raises SourceError, UsageError or UnsupportedError, with the place and what to do."""
    return gpu.read(source, options, CUDA)
