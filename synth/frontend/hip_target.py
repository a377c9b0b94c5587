"""The macros that hipcc defines for a target. One list for whoever reads HIP text: our frontend and the emulator must see the same program.

Sources: ``clang -x hip --offload-arch=TARGET -dM -E``; HIP Porting Guide, "Compiler Defines: Summary". hipcc compiles a file twice, for the
host and for the device, and we read it once: what a file does for the device only (``__HIP_DEVICE_COMPILE__``) is what it means here.
"""

from __future__ import annotations

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
