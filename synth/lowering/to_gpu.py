"""From serial code to launches on a GPU: an ordinary trace, made by asking passes.

Every outermost loop whose iterations are independent becomes a launch: of a thread for each iteration of the nest that it starts, or of a
block for each, whose threads share the loops within. A loop that is not stays on the host around the launches of what it holds; a sum over
a loop is one block's work. What launches touch lives in device memory.
"""

from __future__ import annotations

from synth.analysis.dependence import independent_iterations
from synth.ir.grammar import Alloc, For, Launch, Module, Stmt
from synth.ir.traversal import bodies, find_loop, site_names, walk, written_buffers
from synth.lowering.cost import trips
from synth.lowering.grid import choose, crew_size
from synth.lowering.steps import Lowering
from synth.lowering.vnni import RAISES, front
from synth.passes.block_bind import BlockBind, shareable
from synth.passes.cache import Cache
from synth.passes.nest import candidates
from synth.passes.spill import Spill
from synth.passes.trace import Trace
from synth.spec import DeviceSpec

SHORTEST = 4  # iterations of a loop that is worth staging


def bind_to_gpu(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """The module with its parallel loops as launches and device buffers for what they touch. A program without a parallel loop gets
    launches of one thread. Raises UnsupportedError where a launch of the source cannot be taken apart."""
    root, trace = front(module, spec)
    lowering = Lowering(root, spec, trace)
    lowering.everywhere("serialize")
    lowering.everywhere("privatize")
    lowering.everywhere("extremum")
    lowering.everywhere("simplify")
    while any(lowering.progress(name) for name in RAISES):
        lowering.everywhere("simplify")
    lowering.everywhere("fit_extents")
    lowering.everywhere("result_buffer")
    _bind_all(lowering)
    _bind_rest(lowering)
    _stage(lowering)
    lowering.everywhere("device_buffers")
    lowering.everywhere("simplify")
    return lowering.module, lowering.trace


def _stage(lowering: Lowering) -> None:
    """Loops of kernels whose arrays threads share are staged through shared memory, outer loops and larger tiles first."""
    done: set[str] = set()
    while True:
        steps = [s for s in Cache.space(lowering.module, lowering.spec) if s.loop not in done]
        if not steps:
            return
        loop = find_loop(lowering.module, steps[0].loop)
        long = loop is not None and trips(loop, lowering.module) >= SHORTEST
        done.add(steps[0].loop)
        if long:
            mine = sorted((s for s in steps if s.loop == steps[0].loop), key=lambda s: -s.factor)
            if any(lowering.attempt(s) for s in mine) and loop is not None:
                names = site_names(lowering.module)
                inside = next((s for s in walk(lowering.module.body) if isinstance(s, For) and s.sym == loop.sym), None)
                done |= {names[s.sym] for s in walk((inside,)) if isinstance(s, For)} if inside is not None else set()


def _bind_all(lowering: Lowering) -> None:
    """Outer loops first: what is bound is not looked into any more."""
    refused: set[str] = set()
    while True:
        names = site_names(lowering.module)
        loop = next((x for x in candidates(lowering.module) if names[x.sym] not in refused), None)
        if loop is None:
            return
        if not any(lowering.attempt(step) for step in choose(lowering.module, loop, lowering.spec)):
            refused.add(names[loop.sym])


def _bind_rest(lowering: Lowering) -> None:
    """Loops that are left: those that accumulate, and, where the rest of the program or of a loop around them runs on the device, all."""
    refused: set[str] = set()
    while True:
        module = lowering.module
        names = site_names(module)
        left = [x for x in _left(module) if names[x.sym] not in refused]
        if not left:
            return
        if not _bind_alone(lowering, left[0], names[left[0].sym], among=_among_launches(module, left[0])):
            refused.add(names[left[0].sym])


def _bind_alone(lowering: Lowering, loop: For, site: str, among: bool) -> bool:
    """One block for a loop: all its threads where there is something to share, else one."""
    module, spec = lowering.module, lowering.spec
    inner = (loop,) if _accumulates(module, loop) else shareable(module, loop.body)
    if not inner and not among:
        return False
    saved = lowering.saved()
    scalars = {s.sym for s in walk(module.body) if isinstance(s, Alloc) and not s.shape} - {
        s.sym for s in walk(loop.body) if isinstance(s, Alloc)
    }
    names = site_names(module)
    sites = tuple(names[x.sym] for x in inner)
    for sym in sorted(written_buffers((loop,)) & scalars, key=lambda s: s.uid):
        lowering.attempt(Spill(names[sym]))
    size = crew_size(max((trips(x, module) for x in inner), default=1), spec)
    if (inner and lowering.attempt(BlockBind(site, (), sites, size))) or lowering.attempt(BlockBind(site, (), (), 1)):
        return True
    lowering.restore(saved)
    return False


def _accumulates(module: Module, loop: For) -> bool:
    return any(x is loop for x in shareable(module, (loop,))) and bool(independent_iterations(module, loop).reductions)


def _left(module: Module) -> list[For]:
    """Outermost loops of the host without a launch in them."""

    def visit(body: tuple[Stmt, ...]) -> list[For]:
        found: list[For] = []
        for stmt in body:
            if isinstance(stmt, Launch):
                continue
            if isinstance(stmt, For) and not any(isinstance(s, Launch) for s in walk(stmt.body)):
                found.append(stmt)
                continue
            for inner in bodies(stmt):
                found += visit(inner)
        return found

    return visit(module.body)


def _among_launches(module: Module, loop: For) -> bool:
    """Whether a loop of the host lies in another one that has launches, or no launch is in the program at all."""
    if not any(isinstance(s, Launch) for s in walk(module.body)):
        return True
    around = [s for s in walk(module.body) if isinstance(s, For) and s is not loop and any(x is loop for x in walk(s.body))]
    return any(isinstance(s, Launch) for x in around for s in walk(x.body))
