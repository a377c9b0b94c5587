"""CUDA C++: the row of the table. Sources: CUDA C++ Programming Guide, "C++ Language Extensions"; CUDA Math API."""

from __future__ import annotations

from synth.codegen.gpu_dialect import GpuDialect
from synth.ir.dtypes import DType

CUDA = GpuDialect(
    name="cuda",
    title="CUDA C++",
    prefix="cuda",
    suffix=".cu",
    build=lambda spec: f"nvcc -O3 -std=c++17 -arch={spec.name}",
    headers=("cuda_runtime.h",),
    half_headers={DType.F16: "cuda_fp16.h", DType.BF16: "cuda_bf16.h"},
    half_types={DType.F16: "__half", DType.BF16: "__nv_bfloat16"},
    half_vectors={DType.F16: ("__half2", "__halves2half2"), DType.BF16: ("__nv_bfloat162", "__halves2bfloat162")},
    shuffle="__{op}_sync({mask}, {args})",
    has_masks=True,
    moves_halves=True,
    warp_sync=("__syncwarp();",),
    masked_sync=("__syncwarp({mask});",),
    symbol="{name}",
)
