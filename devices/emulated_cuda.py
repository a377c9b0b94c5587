"""The emulated CUDA device: what nvcc defines, and what a program may opt in to."""

from __future__ import annotations

import re

from devices.emulated_gpu import EmulatedGpu, GpuLanguage
from synth.spec import DeviceSpec


def emulated_cuda(spec: DeviceSpec) -> EmulatedGpu:
    """The emulator for a target ``sm_*``."""
    return EmulatedGpu(spec, CUDA)


def _definitions(spec: DeviceSpec) -> tuple[str, ...]:
    return ("-D__CUDACC__", "-D__NVCC__", f"-D__CUDA_ARCH__={_capability(spec) * 10}", "-D__CUDACC_VER_MAJOR__=12")


def _opt_in(spec: DeviceSpec) -> int:
    return max(spec.shared_opt_in_bytes, spec.shared_bytes)


def _capability(spec: DeviceSpec) -> int:
    found = re.fullmatch(r"sm_(\d+)[a-z]?", spec.name)
    return int(found.group(1)) if found else 80


CUDA = GpuLanguage("cuda", ".cu", "cuda_runtime.h", _definitions, _opt_in, _capability)
