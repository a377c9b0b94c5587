"""IR to text: one base emitter; a dialect is a table of attributes and a few overrides."""

from __future__ import annotations

from synth.errors import UnsupportedError
from synth.ir.grammar import Module
from synth.spec import DeviceSpec


def emit(module: Module, spec: DeviceSpec) -> str:
    """The source text of a module for a target. Raises UnsupportedError naming what the target's dialect cannot express."""
    from synth.codegen import vnni

    emitters = {"vnni": vnni.emit}
    if spec.dialect not in emitters:
        raise UnsupportedError(f"code generation for {spec.dialect} is not available in this version", hint="translate to vnni")
    return emitters[spec.dialect](module)
