"""The real CUDA compiler as a check of what is emitted."""

from __future__ import annotations

from devices.device import Build, Program
from devices.toolchain import Toolchain
from synth.spec import DeviceSpec

NVCC = Toolchain("nvcc", ".cu")


def is_available() -> bool:
    """Whether nvcc is on the path."""
    return NVCC.is_available()


def compile_check(program: Program, spec: DeviceSpec) -> Build:
    """Compiles ``program.text`` to an object for ``spec``; COMPILE_ERROR with nvcc's log, UNSUPPORTED without nvcc. Cached by content."""
    return NVCC.compile_check(program, (f"-arch={spec.name}",))
