"""Which device runs a dialect on this machine."""

from __future__ import annotations

from devices import nvidia_gpu
from devices.device import Device
from devices.emulated_cuda import emulated_cuda
from devices.emulated_hip import emulated_hip
from devices.native_cpu import NativeCpu
from devices.nvidia_gpu import NvidiaGpu
from synth.errors import UnsupportedError, UsageError
from synth.spec import SPECS, find_spec


def find_device(dialect: str, target: str | None = None, prefer: str | None = None, *, oracle: bool = False) -> Device:
    """The device for ``dialect`` and ``target`` (a name of ``synth.spec.SPECS``, or None for the dialect's default): hardware where it
    is found, else an emulator. ``prefer`` is ``hardware`` or ``emulated`` and is then required. ``oracle`` asks for strict arithmetic (no
    contraction).

    Raises UsageError for an unknown target and UnsupportedError when there is no such device.
    """
    spec = find_spec(dialect, target)
    if spec is None:
        known = ", ".join(sorted(name for name, s in SPECS.items() if s.dialect == ("vnni" if dialect == "c" else dialect)))
        raise UsageError(f"there is no target '{target or 'default'}' of dialect {dialect}", hint=f"known: {known or 'none'}")
    if spec.dialect == "vnni":
        if prefer == "emulated":
            raise UnsupportedError("there is no emulator of the CPU", hint="use the hardware device")
        return NativeCpu(spec, reference=oracle)
    if spec.dialect == "cuda":
        if prefer != "emulated" and nvidia_gpu.is_available():
            return NvidiaGpu(spec, oracle)
        if prefer == "hardware":
            raise UnsupportedError("there is no NVIDIA GPU with nvcc on this machine", hint="use the emulated device")
        return emulated_cuda(spec)
    if spec.dialect == "hip":
        if prefer == "hardware":
            raise UnsupportedError("AMD GPUs are not run on by this version", hint="use the emulated device")
        return emulated_hip(spec)
    raise UnsupportedError(f"there is no device for dialect {dialect}")
