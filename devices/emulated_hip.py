"""The emulated HIP device: wavefronts of 64 or 32 lanes by target, and what hipcc defines."""

from __future__ import annotations

import re

from devices.emulated_gpu import EmulatedGpu, GpuLanguage
from synth.frontend.hip_target import target_macros
from synth.spec import DeviceSpec


def emulated_hip(spec: DeviceSpec) -> EmulatedGpu:
    """The emulator for a target ``gfx*``."""
    return EmulatedGpu(spec, HIP)


def _definitions(spec: DeviceSpec) -> tuple[str, ...]:
    architecture = f'-DXP_ARCHITECTURE="{spec.name}"'
    return (architecture, *(f"-D{name}={value}" for name, value in target_macros(spec).items()))


def _opt_in(spec: DeviceSpec) -> int:
    return spec.shared_bytes  # a work-group never gets more than the LDS that a kernel may declare


def _capability(spec: DeviceSpec) -> int:
    """``hipDeviceProp_t::major`` and ``minor`` are the first two numbers of the architecture (gfx90a: 9.0, gfx1100: 11.0)."""
    found = re.fullmatch(r"gfx(\d+)([0-9a-f])[0-9a-f]", spec.name)
    return 10 * int(found.group(1)) + int(found.group(2), 16) if found else 90


HIP = GpuLanguage("hip", ".hip", "hip/hip_runtime.h", _definitions, _opt_in, _capability)
