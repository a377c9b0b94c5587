"""HIP C++: the row of the table. Sources: HIP Programming Guide, "C++ Language Extensions" and "Warp Cross-Lane Functions".

The lanes of a wavefront run in lock step: shuffles have no mask, those that execute one together take part. HIP 5 has no ``__syncwarp``;
what is left of it is the order of memory accesses, which a fence of the wavefront's scope keeps (LLVM AMDGPU Usage, "Memory Model").
"""

from __future__ import annotations

from synth.codegen.gpu_dialect import GpuDialect
from synth.ir.dtypes import DType

_SYNC = ('__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");', "__builtin_amdgcn_wave_barrier();")

HIP = GpuDialect(
    name="hip",
    title="HIP C++",
    prefix="hip",
    suffix=".hip",
    build=lambda spec: f"hipcc -O3 -std=c++17 --offload-arch={spec.name}",
    headers=("hip/hip_runtime.h",),
    half_headers={DType.F16: "hip/hip_fp16.h", DType.BF16: "hip/hip_bf16.h"},
    half_types={DType.F16: "__half", DType.BF16: "__hip_bfloat16"},
    half_vectors={DType.F16: ("__half2", "__halves2half2"), DType.BF16: ("__hip_bfloat162", "__halves2bfloat162")},
    shuffle="__{op}({args})",
    has_masks=False,
    moves_halves=False,
    warp_sync=_SYNC,
    masked_sync=_SYNC,
    symbol="HIP_SYMBOL({name})",
)
