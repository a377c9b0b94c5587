"""How a HIP file is known, and the macros that hipcc defines for a target: one list, so that our frontend and the emulator see the same
program.

Sources: ``clang -x hip --offload-arch=TARGET -dM -E``; HIP Porting Guide, "Compiler Defines: Summary". hipcc compiles a file twice, for the
host and for the device, and we read it once: what a file does for the device only (``__HIP_DEVICE_COMPILE__``) is what it means here.
"""

from __future__ import annotations

import re

from synth.spec import DeviceSpec


def target_macros(spec: DeviceSpec) -> dict[str, str]:
    """Macros by name."""
    size = str(spec.warp_size)
    generation = spec.name.removeprefix("gfx")[:-2]
    return {
        "__HIP__": "1",
        "__HIPCC__": "1",
        "__HIP_PLATFORM_AMD__": "1",
        "__HIP_PLATFORM_HCC__": "1",
        "__HIP_DEVICE_COMPILE__": "1",
        "__AMDGCN__": "1",
        "__AMDGCN_WAVEFRONT_SIZE": size,
        "__AMDGCN_WAVEFRONT_SIZE__": size,
        f"__{spec.name}__": "1",
        f"__GFX{generation}__": "1",
    }


_HIP = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]hip/|\bhip(?:Malloc|Memcpy|LaunchKernelGGL|Free|DeviceSynchronize)\b', re.MULTILINE)
_CUDA = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]cuda_runtime|\bcuda(?:Malloc|Memcpy|Free|DeviceSynchronize)\b', re.MULTILINE)


def is_hip(text: str) -> bool:
    """Whether a C++ or ``.cu`` file is HIP: it includes a header of HIP's or calls its runtime, and not CUDA's as well."""
    return _HIP.search(text) is not None and _CUDA.search(text) is None
