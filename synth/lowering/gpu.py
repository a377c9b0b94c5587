"""The default lowering to GPUs. A program with launches keeps its structure; serial code is bound to launches.

``front`` keeps a module with launches as it was read, and brings any other one to raised serial loops, where schedules begin.
"""

from __future__ import annotations

from synth.ir.grammar import Launch, Module
from synth.ir.traversal import walk
from synth.lowering import vnni
from synth.lowering.to_gpu import bind_to_gpu
from synth.passes.trace import Trace
from synth.spec import DeviceSpec


def has_launches(module: Module) -> bool:
    """Whether the program runs something on a GPU already."""
    return any(isinstance(s, Launch) for s in walk(module.body))


def front(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """A module with launches as it is; the serial loops of any other."""
    return (module, ()) if has_launches(module) else vnni.front(module, spec)


def default_lowering(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """Launches stay what they are; a module without one is bound to launches."""
    return (module, ()) if has_launches(module) else bind_to_gpu(module, spec)
