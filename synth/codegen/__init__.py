"""IR to text: one base emitter; a dialect is a table of attributes and a few overrides."""

from __future__ import annotations

from synth.errors import UnsupportedError
from synth.ir.grammar import Module
from synth.spec import DeviceSpec


def emit(module: Module, spec: DeviceSpec) -> str:
    """The source text of a module for a target. Raises UnsupportedError naming what the target's dialect cannot express."""
    from synth.codegen import gpu, vnni
    from synth.codegen.cuda import CUDA
    from synth.codegen.hip import HIP

    match spec.dialect:
        case "vnni":
            return vnni.emit(module)
        case "cuda":
            return gpu.emit(module, spec, CUDA)
        case "hip":
            return gpu.emit(module, spec, HIP)
    raise UnsupportedError(f"code generation for {spec.dialect} is not available in this version", hint="translate to vnni, cuda or hip")
