"""The shape of a launch for a nest of loops: which loops to blocks and threads of which dimensions, and how large a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from synth.analysis.access import accesses
from synth.analysis.linear import env_at, private_buffers
from synth.ir.builder import int_value
from synth.ir.grammar import Alloc, Body, For, Module, Var
from synth.ir.traversal import site_names, walk_expr
from synth.lowering.cost import UNKNOWN_TRIPS, trips
from synth.passes.base import Pass
from synth.passes.block_bind import BlockBind, shareable
from synth.passes.loop_bind import LoopBind
from synth.passes.nest import dependent, nested
from synth.spec import DeviceSpec

# Threads of a block: enough warps to hide latency, few enough for many registers each. CUDA C++ Best Practices Guide, "Thread and Block
# Heuristics": multiples of the warp size, between 128 and 256 to begin with.
BLOCK = 256
ONE_BLOCK = 1024  # iterations, up to which one block runs them all within a serial loop, rather than a launch for each of its iterations


def choose(module: Module, outer: For, spec: DeviceSpec) -> Iterator[Pass]:
    """Launches worth trying for the nest that starts at a loop, the best first."""
    nest = nested(outer)
    depth = 0
    while depth < len(nest) and not dependent(module, nest[: depth + 1]):
        depth += 1
    chain = nest[:depth]
    if not chain:
        yield from _one_block(module, outer, spec)
        return
    together = _together(module, chain, spec)
    if together is not None and _prefers_blocks(module, chain, spec):
        yield together
    for length in range(depth, 0, -1):
        yield from _shapes(module, chain[:length], spec)
    if together is not None:
        yield together


def _shapes(module: Module, chain: tuple[For, ...], spec: DeviceSpec) -> Iterator[LoopBind]:
    """Every thread runs an iteration of the nest."""
    names = site_names(module)
    counts = [trips(x, module) for x in chain]
    sites = [names[x.sym] for x in chain]
    if len(chain) == 1:
        yield LoopBind((sites[0],), threads_x=_block(counts[0], spec))
        return
    scores = contiguity(module, chain[-1].body, chain[-1], chain)
    fast = max(k for k, score in enumerate(scores) if score == max(scores))
    if counts[fast] < spec.warp_size and fast == len(chain) - 1:
        # A dimension too short for a warp: all loops in one, the fastest last.
        yield LoopBind(tuple(sites), threads_x=_block(prod(counts), spec))
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


# -------------------------------------------------------------------------------------------------------- blocks as crews


def _together(module: Module, chain: tuple[For, ...], spec: DeviceSpec) -> BlockBind | None:
    """A block for each iteration of the nest, whose threads share the loops in it."""
    inner = [x for x in shareable(module, chain[-1].body) if trips(x, module) >= spec.warp_size]
    if not inner:
        return None
    names = site_names(module)
    outer = tuple(names[x.sym] for x in chain)
    return BlockBind(outer[0], outer, tuple(names[x.sym] for x in inner), crew_size(max(trips(x, module) for x in inner), spec))


def crew_size(count: int, spec: DeviceSpec) -> int:
    """A power of two, of whole warps."""
    size = spec.warp_size
    while size < BLOCK and size < count:
        size *= 2
    return size


def _prefers_blocks(module: Module, chain: tuple[For, ...], spec: DeviceSpec) -> bool:
    """Whether neighbouring memory is touched by the iterations of the inner loops rather than of the nest, and each iteration of the nest
    has memory of its own there; or whether the nest is too short for a warp, or its iterations keep arrays."""
    if prod(trips(x, module) for x in chain) < spec.warp_size or any(isinstance(s, Alloc) and s.shape for s in chain[-1].body):
        return True
    inner = shareable(module, chain[-1].body)
    outside = max(contiguity(module, chain[-1].body, chain[-1], chain))
    within = max((max(contiguity(module, x.body, x, (x,))) * trips(x, module) for x in inner), default=0.0)
    return within > outside and any(_own_memory(module, chain, x) for x in inner)


def _own_memory(module: Module, chain: tuple[For, ...], inner: For) -> bool:
    """Whether some access that is contiguous over a loop depends on all loops of the nest: no other iteration of it reads the same."""
    env = env_at(module, inner).with_loop(inner)
    v = Var(inner.sym, inner.dtype)
    for access in accesses(inner.body, env):
        if access.index:
            polys = [access.env.normal(i) for i in access.index]
            mentioned = {e.sym for p in polys for a in p.atoms() for e in walk_expr(a) if isinstance(e, Var)}
            if polys[-1].terms.get((v,)) == 1 and {x.sym for x in chain if trips(x, module) > 1} <= mentioned:
                return True
    return False


def _one_block(module: Module, outer: For, spec: DeviceSpec) -> Iterator[Pass]:
    """A serial loop around short loops that can be shared: one block runs it all."""
    inner = shareable(module, outer.body)
    counts = [trips(x, module) for x in inner if int_value(x.hi) is not None]
    if inner and len(counts) == len(inner) and max(counts) <= ONE_BLOCK and not _much_inside(module, inner):
        names = site_names(module)
        yield BlockBind(names[outer.sym], (), tuple(names[x.sym] for x in inner), crew_size(max(counts), spec))


def _much_inside(module: Module, inner: Sequence[For]) -> bool:
    """Whether a loop that would be shared by one block holds further loops that could be spread over many."""
    return any(prod(trips(x, module) for x in nested(loop)) > ONE_BLOCK for loop in inner)


def contiguity(module: Module, body: Body, inner: For, candidates: Sequence[For]) -> list[float]:
    """For each of these loops, how many accesses of a body go to the next element with its next iteration; writes count twice. ``inner`` is
    the loop whose body it is."""
    env = env_at(module, inner).with_loop(inner)
    private = private_buffers(body)
    scores = [0.0] * len(candidates)
    for access in accesses(body, env):
        if access.buf in private or not access.index:
            continue
        weight = 2.0 if access.is_write else 1.0
        for loop in access.env.loops[len(env.loops) :]:
            weight *= trips(loop, module)
        last = access.env.normal(access.index[-1])
        for k, x in enumerate(candidates):
            if last.terms.get((Var(x.sym, x.dtype),)) == 1:
                scores[k] += weight
    return scores
