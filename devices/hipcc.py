"""The real HIP compiler as a check of what is emitted.

Seen with Debian's hipcc 5.2.3 (``apt-get install hipcc``, 370 MB): gfx90a and gfx1100 compile without a GPU in 2 to 4 s, gfx942 is unknown
to it; where nvcc is installed too, it turns into nvcc unless ``HIP_PLATFORM=amd`` is set.
"""

from __future__ import annotations

import dataclasses
import re

from devices.device import Build, Program
from devices.status import Status
from devices.toolchain import Toolchain
from synth.spec import DeviceSpec

HIPCC = Toolchain("hipcc", ".hip", ("env", "HIP_PLATFORM=amd"))
_UNKNOWN_TARGET = re.compile(
    r"(?:[Ii]nvalid|[Uu]nknown|[Uu]nsupported)[^\n]*(?:target|processor|arch)[^\n]*gfx|cannot find ROCm device library"
)


def is_available() -> bool:
    """Whether hipcc is on the path."""
    return HIPCC.is_available()


def compile_check(program: Program, spec: DeviceSpec) -> Build:
    """Compiles ``program.text`` to an object for ``spec``; COMPILE_ERROR with hipcc's log, UNSUPPORTED without hipcc or where it does not
    know the target. Cached by content."""
    build = HIPCC.compile_check(program, (f"--offload-arch={spec.name}", "-x", "hip"))
    if build.status is Status.COMPILE_ERROR and _UNKNOWN_TARGET.search(build.log):
        return dataclasses.replace(build, status=Status.UNSUPPORTED)
    return build
