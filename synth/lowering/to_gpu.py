"""From serial code to launches on a GPU: an ordinary trace, made by asking passes.

Every outermost loop whose iterations are independent becomes a launch, with the loops perfectly nested in it that are independent too; a
loop that is not is left on the host around the launches of what it holds. What launches touch lives in device memory.
"""

from __future__ import annotations

from synth.ir.grammar import Launch, Module
from synth.ir.traversal import site_names, walk
from synth.lowering.grid import choose
from synth.lowering.steps import Lowering
from synth.lowering.vnni import front
from synth.passes.nest import candidates
from synth.passes.trace import Trace
from synth.spec import DeviceSpec


def bind_to_gpu(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """The module with its parallel loops as launches and device buffers for what they touch. A program without a parallel loop gets one
    launch of one thread; ``is_serial`` of ``synth.lowering.report`` says so. Raises UnsupportedError where a launch cannot be made."""
    root, trace = front(module, spec)
    lowering = Lowering(root, spec, trace)
    lowering.everywhere("serialize")
    lowering.everywhere("privatize")
    lowering.everywhere("simplify")
    _bind_all(lowering)
    lowering.everywhere("device_buffers")
    lowering.everywhere("simplify")
    return lowering.module, lowering.trace


def _bind_all(lowering: Lowering) -> None:
    """Outer loops first: what is bound is not looked into any more."""
    refused: set[str] = set()
    while True:
        names = site_names(lowering.module)
        open_loops = [loop for loop in candidates(lowering.module) if names[loop.sym] not in refused]
        if not open_loops:
            return
        loop = open_loops[0]
        if not any(lowering.attempt(step) for step in choose(lowering.module, loop, lowering.spec)):
            refused.add(names[loop.sym])


def launches(module: Module) -> tuple[Launch, ...]:
    """All launches of a module, in program order."""
    return tuple(s for s in walk(module.body) if isinstance(s, Launch))
