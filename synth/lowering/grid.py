"""The shape of a launch for a nest of loops: which loops to which dimensions, and how large a block."""

from __future__ import annotations

from collections.abc import Iterator

from synth.analysis.access import accesses
from synth.analysis.linear import env_at, private_buffers
from synth.ir.grammar import For, Module, Var
from synth.ir.traversal import site_names, walk_expr
from synth.lowering.cost import UNKNOWN_TRIPS, trips
from synth.passes.loop_bind import LoopBind
from synth.passes.nest import nested
from synth.spec import DeviceSpec

BLOCK = 256  # threads: enough warps to hide latency, few enough for many registers each (CUDA C++ Best Practices Guide, "Thread and Block
# Heuristics": multiples of the warp size, between 128 and 256 to begin with)


def choose(module: Module, outer: For, spec: DeviceSpec) -> Iterator[LoopBind]:
    """Launches worth trying for the nest that starts at a loop: as many of its loops as possible, then fewer."""
    chain = nested(outer)
    for depth in range(len(chain), 0, -1):
        yield from _shapes(module, chain[:depth], spec)


def _shapes(module: Module, chain: tuple[For, ...], spec: DeviceSpec) -> Iterator[LoopBind]:
    names = site_names(module)
    counts = [trips(x, module) for x in chain]
    sites = [names[x.sym] for x in chain]
    if len(chain) == 1:
        yield LoopBind((sites[0],), threads_x=_block(counts[0], spec))
        return
    fast = _contiguous(module, chain)
    if counts[fast] < spec.warp_size and fast == len(chain) - 1:
        # A dimension too short for a warp: all loops in one, the fastest last.
        total = 1
        for count in counts:
            total = min(total * count, 1 << 30)
        yield LoopBind(tuple(sites), threads_x=_block(total, spec))
        return
    rest = [k for k in range(len(chain)) if k != fast]
    second, others = rest[-1], rest[:-1]
    width = spec.warp_size
    height = max(1, BLOCK // width)
    while height > 1 and height // 2 >= counts[second]:
        height //= 2
    if height == 1:
        width = _block(counts[fast], spec)
    yield LoopBind((sites[fast],), (sites[second],), tuple(sites[k] for k in others), width, height)


def _block(count: int, spec: DeviceSpec) -> int:
    """A block for so many iterations in a row: whole warps."""
    if count == UNKNOWN_TRIPS:
        return BLOCK
    warps = -(-count // spec.warp_size)
    return min(BLOCK, max(1, warps) * spec.warp_size)


def _contiguous(module: Module, chain: tuple[For, ...]) -> int:
    """The loop of a nest that most accesses are contiguous over, the innermost of those: neighbouring threads then touch neighbouring
    memory."""
    inner = chain[-1]
    env = env_at(module, inner).with_loop(inner)
    private = private_buffers(inner.body)
    scores = [0.0] * len(chain)
    for access in accesses(inner.body, env):
        if access.buf in private or not access.index:
            continue
        weight = 2.0 if access.is_write else 1.0
        for loop in access.env.loops[len(env.loops) :]:
            weight *= trips(loop, module)
        last = access.env.normal(access.index[-1])
        for k, x in enumerate(chain):
            v = Var(x.sym, x.dtype)
            mentions = any(isinstance(e, Var) and e.sym == x.sym for a in last.atoms() for e in walk_expr(a))
            if mentions and last.terms.get((v,)) == 1:
                scores[k] += weight
    best = max(scores)
    return max(k for k, score in enumerate(scores) if score == best)
