"""HIP C++: the table of what it does not share with CUDA.

Sources: HIP Porting Guide; HIP Runtime API Reference; HIP Programming Guide, "Warp Cross-Lane Functions" (masks have 64 bits).
"""

from __future__ import annotations

from synth.frontend import gpu, hip_device
from synth.frontend.gpu_language import GpuLanguage
from synth.frontend.hip_target import target_macros
from synth.ir.dtypes import DType
from synth.source import ReadOptions, ReadResult, Source
from synth.spec import DeviceSpec


def _arguments(spec: DeviceSpec) -> tuple[str, ...]:
    macros = (f"-D{name}={value}" for name, value in target_macros(spec).items())
    return ("-x", "hip", "--cuda-host-only", "-nogpuinc", "-nogpulib", f"--offload-arch={spec.name}", "-std=c++17", *macros)


HIP = GpuLanguage(
    name="hip",
    prefix="hip",
    arguments=_arguments,
    header="hip/hip_runtime.h",
    lane_mask=DType.U64,
    calls={
        "xpiler_readfirstlane": hip_device.read_first_lane,
        "xpiler_check_swizzle": hip_device.check_swizzle,
        "xpiler_check_dpp": hip_device.check_dpp,
        "xpiler_check_mfma": hip_device.check_mfma,
    },
    synonyms={
        "HostMalloc": "HostAlloc",
        "HostFree": "FreeHost",
        "MemcpyWithStream": "MemcpyAsync",
        "MemcpyHtoD": "Memcpy",
        "MemcpyDtoH": "Memcpy",
        "MemcpyDtoD": "Memcpy",
        "MemcpyHtoDAsync": "MemcpyAsync",
        "MemcpyDtoHAsync": "MemcpyAsync",
    },
)


def read(source: Source, options: ReadOptions) -> ReadResult:
    """Reads a HIP source. Raises SourceError, UsageError or UnsupportedError, with the place and what to do."""
    return gpu.read(source, options, HIP)
