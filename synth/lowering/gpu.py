"""The default lowering to GPUs. A program with launches keeps its structure; serial code is bound to launches.

``front`` keeps a module with launches as it was read, and brings any other one to raised serial loops, where schedules begin. Launches
that the device cannot run as they are (``retarget`` refuses them) are made serial and bound anew.
"""

from __future__ import annotations

from synth.analysis.dependence import independent_iterations
from synth.errors import UnsupportedError
from synth.ir.builder import int_value
from synth.ir.grammar import Launch, Module
from synth.ir.traversal import loops, walk
from synth.lowering import vnni
from synth.lowering.report import structure
from synth.lowering.steps import Lowering
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
    """Launches are kept where the device can run them, on more than one thread if they can; everything else is bound to launches. Raises
    UnsupportedError with the reasons."""
    lowering = Lowering(module, spec)
    if has_launches(module):
        lowering.everywhere("retarget")
        kept = (lowering.module.dialect, lowering.module.warp_size) == (spec.dialect, spec.warp_size)
        if kept and not (structure(lowering.module).is_serial and parallel_loop(module)):
            return lowering.module, lowering.trace
    refusal = lowering.refusal
    try:
        bound, trace = bind_to_gpu(module, spec)
    except UnsupportedError as error:
        if not refusal:
            raise
        raise UnsupportedError(f"{refusal}; and its launches cannot be bound anew: {error.message}", error.location) from error
    again = Lowering(bound, spec, trace)
    again.everywhere("retarget")
    return _not_serial(module, again)


def _not_serial(source: Module, lowering: Lowering) -> tuple[Module, Trace]:
    """The result; a program whose loops may run in parallel is no translation when it runs on one thread. Raises UnsupportedError."""
    final = lowering.module
    loop = parallel_loop(source) if structure(final).is_serial else None
    if loop is not None:
        raise UnsupportedError(f"the result would run on one thread, and {loop}", hint="a loop could not be bound to threads")
    return final, lowering.trace


def parallel_loop(module: Module) -> str | None:
    """A loop of more than one iteration that may run in parallel, in words; None when there is none."""
    if structure(module).parallel_loops:
        return f"loop '{structure(module).parallel_loops[0]}' of the program is parallel"
    for site, loop in loops(module).items():
        single = int_value(loop.lo) is not None and int_value(loop.hi) == (int_value(loop.lo) or 0) + 1
        if loop.axis is None and not single and independent_iterations(module, loop):
            return f"the iterations of loop '{site}' are independent"
    return None
