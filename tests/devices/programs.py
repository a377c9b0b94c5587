"""Programs and calls for the tests of devices: one input and one output buffer of floats."""

from __future__ import annotations

import numpy as np

from devices.device import Device, Program, Run
from synth.evidence.cases import BufferArg, TestCase
from synth.ir.builder import i32
from synth.ir.dtypes import DType
from synth.ir.grammar import Param, Role, Space, Sym
from synth.source import LaunchShape


def program(text: str, dialect: str, count: int, entry: str = "entry", launch: LaunchShape | None = None) -> Program:
    params = tuple(
        Param(Sym(name), DType.F32, (i32(count),), Space.HOST if launch is None else Space.GLOBAL, role)
        for name, role in (("x", Role.IN), ("y", Role.OUT))
    )
    return Program(text, dialect, entry, params, launch=launch, filename={"cuda": "k.cu", "hip": "k.hip"}.get(dialect, "k.c"))


def case(count: int, entry: str = "entry", data: np.ndarray | None = None) -> TestCase:  # type: ignore[type-arg]
    values = np.arange(count, dtype=np.float32) if data is None else data
    args = (BufferArg("x", DType.F32, count, Role.IN, values), BufferArg("y", DType.F32, count, Role.OUT))
    return TestCase(entry, args, "ramp", 0)


def run(device: Device, text: str, dialect: str, count: int = 64, timeout: float = 10.0, cases: int = 1) -> tuple[Run, ...]:
    build = device.build(program(text, dialect, count))
    return device.run(build, tuple(case(count) for _ in range(cases)), timeout)


def cuda(kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> str:
    """A kernel ``k(x, y)`` with its host wrapper ``entry``, 64 floats."""
    return f"""#include <cuda_runtime.h>
{kernel}
extern "C" void entry(const float* x, float* y) {{
    float *dx, *dy;
    cudaMalloc(&dx, 64 * sizeof(float));
    cudaMalloc(&dy, 64 * sizeof(float));
    cudaMemcpy(dx, x, 64 * sizeof(float), cudaMemcpyHostToDevice);
    k<<<{grid}, {block}, {shared}>>>(dx, dy);
    cudaMemcpy(y, dy, 64 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(dx);
    cudaFree(dy);
}}
"""


def gpu(dialect: str, kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> str:
    """``cuda(...)`` in another GPU dialect. The host API differs in its prefix only; ``kernel`` is taken as it is."""
    wrapper = cuda("//kernel", grid, block, shared)
    if dialect == "hip":
        wrapper = wrapper.replace("<cuda_runtime.h>", "<hip/hip_runtime.h>").replace("cuda", "hip")
    return wrapper.replace("//kernel", kernel)
