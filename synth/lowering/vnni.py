"""The default lowering to ``vnni``: an ordinary trace, made by asking passes what they propose and checking it.

``front`` brings a program of any dialect to serial loops; ``default_lowering`` completes a serial or partly scheduled program. A step that
is refused is left out, so the lowering succeeds whenever a plain serial one would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.errors import UnsupportedError
from synth.ir.dtypes import Vec
from synth.ir.grammar import Alloc, Axis, For, Launch, Module
from synth.ir.traversal import all_exprs, bodies, loops, walk
from synth.lowering.canonical import one_loop_per_dimension
from synth.lowering.cost import trips, vector_gain
from synth.lowering.steps import LIMIT, Lowering
from synth.passes.base import Pass
from synth.passes.registry import get
from synth.passes.trace import Trace
from synth.passes.vector_body import widest
from synth.spec import DeviceSpec

# cheapest first: whenever one of them has done something, the earlier ones are asked again
RAISES = ("reroll", "store_forward", "reduction_raise", "copy_elimination", "reduction_merge", "stride_merge")
MIN_GAIN = 1.3
SMALL_LOOP_WORK = 4096  # iterations below which starting threads costs more than it brings


def front(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """Host copies, structure, recovery and raising. Raises UnsupportedError with the reason when a launch cannot be made serial."""
    lowering = Lowering(module, spec)
    lowering.everywhere("host_copies")
    lowering.everywhere("structurize")
    lowering.everywhere("loop_recovery")
    if any(isinstance(s, Launch) for s in walk(lowering.module.body)):
        raise UnsupportedError(f"a launch cannot be turned into loops: {lowering.refusal or 'no reason given'}")
    lowering.everywhere("simplify")
    while any(lowering.progress(name) for name in RAISES):
        lowering.everywhere("simplify")
    lowering.everywhere("loop_contraction")
    lowering.everywhere("simplify")
    one_loop_per_dimension(lowering)
    return lowering.module, lowering.trace


def default_lowering(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """Parallel outermost loops, vectors where they pay most, contraction. What the module has already is left as it is."""
    lowering = Lowering(module, spec)
    if any(isinstance(s, Launch) for s in walk(module.body)):
        lowering.module, lowering.trace = front(module, spec)
    lowering.everywhere("simplify")
    _fuse_short_loops(lowering)
    _parallelize(lowering)
    _vectorize(lowering)
    lowering.everywhere("simplify")
    lowering.everywhere("contract_fma")
    return lowering.module, lowering.trace


def _fuse_short_loops(lowering: Lowering) -> None:
    """A loop too short to fill vectors is made one with the loop around it where the result runs over contiguous memory."""
    for _ in range(LIMIT):
        if not any(_fuse_if_better(lowering, step) for step in get("loop_fuse").space(lowering.module, lowering.spec)):
            return


def _fuse_if_better(lowering: Lowering, step: Pass) -> bool:
    module, spec = lowering.module, lowering.spec
    outer, inner = (loops(module).get(getattr(step, name)) for name in ("outer", "inner"))
    if outer is None or inner is None or outer.axis is not None or not step.check(module, spec):
        return False
    lanes = spec.vector_bits // widest(inner.body)
    if trips(inner, module) % lanes == 0:
        return False
    fused = get("simplify")().apply(step.apply(module, spec), spec)
    name = f"{outer.sym.name}.{inner.sym.name}"
    loop = next((x for x in loops(fused).values() if x.sym.name == name), None)
    if loop is None:
        return False
    after, before = vector_gain(fused, loop, lanes), max(vector_gain(module, x, lanes).gain for x in (outer, inner))
    if after.scattered or after.gain <= before:
        return False
    return lowering.attempt(step) and (lowering.attempt(get("simplify")()) or True)


def _vectorize(lowering: Lowering) -> None:
    """In every nest without vectors, the loop with the largest modelled gain."""
    refused: set[str] = set()
    for _ in range(LIMIT):
        ranked = sorted(_candidates(lowering, refused), key=lambda c: (-c[0], c[1]))
        if not ranked:
            return
        _, site, lanes = ranked[0]
        if not lowering.attempt(get("vectorize")(site=site, lanes=lanes)):  # type: ignore[call-arg]
            refused.add(site)


def _candidates(lowering: Lowering, refused: set[str]) -> Iterator[tuple[float, str, int]]:
    module = lowering.module
    nests = _vectorised_nests(module)
    for site, loop in loops(module).items():
        if site in refused or loop.axis is not None or site in nests or _has_vectors(loop):
            continue
        lanes = lowering.spec.vector_bits // widest(loop.body)
        count = trips(loop, module)
        while lanes > 4 and count < lanes and count <= lanes // 2:
            lanes //= 2
        gain = vector_gain(module, loop, lanes)
        if gain.gain >= MIN_GAIN:
            yield gain.gain, site, lanes


def _has_vectors(loop: For) -> bool:
    return any(isinstance(e.type, Vec) for e in all_exprs(loop.body)) or any(
        isinstance(s, Alloc) and isinstance(s.dtype, Vec) for s in walk(loop.body)
    )


def _vectorised_nests(module: Module) -> set[str]:
    """Loops that lie inside a loop over vectors."""
    from synth.ir.traversal import site_names

    names = site_names(module)
    found: set[str] = set()
    for stmt in walk(module.body):
        if isinstance(stmt, For) and _has_vectors(stmt) and _steps_by_vectors(stmt):
            found |= {names[s.sym] for s in walk(stmt.body) if isinstance(s, For)}
    return found


def _is_innermost(loop: For) -> bool:
    """Nothing would be left to vectorise inside."""
    return not any(isinstance(s, For) for s in walk(loop.body))


def _steps_by_vectors(loop: For) -> bool:
    from synth.ir.builder import int_value

    return (int_value(loop.step) or 1) > 1


def _parallelize(lowering: Lowering) -> None:
    """Outermost loops with enough work, and those perfectly nested in them."""
    if any(isinstance(s, For) and s.axis is Axis.OMP for s in walk(lowering.module.body)):
        return
    for site in _outermost(lowering.module):
        _parallelize_nest(lowering, site)


def _parallelize_nest(lowering: Lowering, site: str) -> None:
    loop = loops(lowering.module).get(site)
    if loop is None or not lowering.attempt(get("parallelize")(site=site)):  # type: ignore[call-arg]
        # A serial outer loop may hold parallel ones: OpenMP then starts a team in each of its iterations.
        return
    inner = loops(lowering.module)[site].body
    while len(inner) == 1 and isinstance(inner[0], For) and inner[0].axis is None and not _steps_by_vectors(inner[0]):
        child = next(s for s, x in loops(lowering.module).items() if x is inner[0])
        if trips(loops(lowering.module)[site], lowering.module) >= 4 * lowering.spec.cores or _is_innermost(inner[0]):
            return
        if not lowering.attempt(get("parallelize")(site=child)):  # type: ignore[call-arg]
            return
        site, inner = child, loops(lowering.module)[child].body


def _outermost(module: Module) -> Sequence[str]:
    """Sites of loops that lie in no other loop."""
    names = {id(loop): site for site, loop in loops(module).items()}

    def visit(body: tuple[object, ...]) -> Iterator[str]:
        for stmt in body:
            if isinstance(stmt, For):
                yield names[id(stmt)]
            else:
                for inner in bodies(stmt):  # type: ignore[arg-type]
                    yield from visit(inner)

    return tuple(visit(module.body))
