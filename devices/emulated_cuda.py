"""The emulated CUDA device: what nvcc defines, and what a program may opt in to."""

from __future__ import annotations

import re

from devices.emulated_gpu import EmulatedGpu, GpuLanguage
from synth.spec import DeviceSpec

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": maximum shared memory per thread block (opt-in)
OPT_IN_SHARED_BYTES = {"sm_70": 96 * 1024, "sm_80": 163 * 1024, "sm_90": 227 * 1024}


def emulated_cuda(spec: DeviceSpec) -> EmulatedGpu:
    """The emulator for a target ``sm_*``."""
    return EmulatedGpu(spec, CUDA)


def _definitions(spec: DeviceSpec) -> tuple[str, ...]:
    return ("-D__CUDACC__", "-D__NVCC__", f"-D__CUDA_ARCH__={_capability(spec) * 10}", "-D__CUDACC_VER_MAJOR__=12")


def _opt_in(spec: DeviceSpec) -> int:
    return OPT_IN_SHARED_BYTES.get(spec.name, spec.shared_bytes)


def _capability(spec: DeviceSpec) -> int:
    found = re.fullmatch(r"sm_(\d+)[a-z]?", spec.name)
    return int(found.group(1)) if found else 80


CUDA = GpuLanguage("cuda", ".cu", "cuda_runtime.h", _definitions, _opt_in, _capability)
