"""The default lowering to ``vnni``: an ordinary trace, made by asking passes what they propose and checking it.

``front`` brings a program of any dialect to serial loops; ``default_lowering`` completes a serial or partly scheduled program. A step that
is refused is left out, so the lowering succeeds whenever a plain serial one would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.errors import UnsupportedError
from synth.ir.builder import int_value
from synth.ir.grammar import For, Launch, Module
from synth.ir.traversal import bodies, loops, path_to, walk
from synth.lowering.canonical import one_loop_per_dimension
from synth.lowering.cost import trips, vector_gain
from synth.lowering.reuse import reuse_loops
from synth.lowering.schedule import Scheduler, has_vectors
from synth.lowering.steps import LIMIT, Lowering
from synth.passes.base import Pass
from synth.passes.jam import FACTORS, Jam
from synth.passes.parallelize import Parallelize
from synth.passes.registry import get
from synth.passes.simd import Simd
from synth.passes.simplify import Simplify
from synth.passes.trace import Trace
from synth.passes.vectorize import Vectorize, widest
from synth.spec import DeviceSpec

# cheapest first: whenever one of them has done something, the earlier ones are asked again
RAISES = (
    "reroll",
    "store_forward",
    "counted_while",
    "induction",
    "promote",
    "reduction_raise",
    "copy_elimination",
    "reduction_merge",
    "stride_merge",
)
LONG = 8  # iterations from which on the compiler's vectors may pay
ENOUGH = 4  # iterations a core, from which on no further loop is bound to the cores


def front(module: Module, spec: DeviceSpec) -> tuple[Module, Trace]:
    """Host copies, structure, recovery and raising. Raises UnsupportedError with the reason when a launch cannot be made serial."""
    lowering = Lowering(module, spec)
    lowering.everywhere("host_copies")
    lowering.everywhere("structurize")
    lowering.everywhere("loop_recovery")
    if any(isinstance(s, Launch) for s in walk(lowering.module.body)):
        raise UnsupportedError(f"a launch cannot be turned into loops: {lowering.refusal or 'no reason given'}")
    lowering.everywhere("counted_while")  # counters of 64 bits are narrowed by simplify, which hides what they count
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
    vectors = Scheduler(lowering.module, lowering.spec).choose()
    _parallelize(lowering, frozenset(step.site for step in vectors))
    for step in reversed(vectors):  # the last first, so that the sites of the others stay what they are
        lowering.attempt(step)
    lowering.everywhere("simplify")
    _parallelize_vectors(lowering, vectors)
    _share_loads(lowering)
    _leave_to_the_compiler(lowering)
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


def _parallelize(lowering: Lowering, kept: frozenset[str]) -> None:
    """Outermost loops, and those perfectly nested in them while there is too little to do; not those that are kept for vectors."""
    for site in _outermost(lowering.module):
        loop = loops(lowering.module).get(site)
        if loop is not None and loop.axis is None and site not in kept:
            _parallelize_nest(lowering, site, kept)


def _parallelize_vectors(lowering: Lowering, vectors: tuple[Vectorize, ...]) -> None:
    """An outermost loop that was vectorised runs on all cores too; what remains of its iterations does not."""
    outermost = _outermost(lowering.module)
    for step in vectors:
        loop = loops(lowering.module).get(step.site)
        if loop is not None and step.site in outermost and int_value(loop.step) == step.lanes:
            lowering.attempt(Parallelize(step.site))


def _share_loads(lowering: Lowering) -> None:
    """Loops whose iterations accumulate from the same vectors run several iterations at once."""
    for site in reuse_loops(lowering.module):
        loop = loops(lowering.module).get(site)
        if loop is None:
            continue
        count = trips(loop, lowering.module)
        needed = ENOUGH * lowering.spec.cores if loop.axis is not None else 1
        if any(lowering.attempt(Jam(site, factor)) for factor in reversed(FACTORS) if count >= factor * needed):
            lowering.attempt(Simplify())


def _leave_to_the_compiler(lowering: Lowering) -> None:
    """Long innermost loops that have no vectors, nor lie among them: the compiler is told that it may vectorise them."""
    for step in Simd.space(lowering.module, lowering.spec):
        loop = loops(lowering.module)[step.site]
        around = path_to(lowering.module.body, loop) or ()
        if not any(isinstance(s, For) and has_vectors(s) for s in around) and trips(loop, lowering.module) >= LONG:
            lowering.attempt(step)


def _parallelize_nest(lowering: Lowering, site: str, kept: frozenset[str]) -> None:
    if not lowering.attempt(Parallelize(site)):
        # A serial outer loop may hold parallel ones: OpenMP then starts a team in each of its iterations.
        return
    count = 1
    while True:
        loop = loops(lowering.module)[site]
        count *= trips(loop, lowering.module)
        inner = loop.body[-1] if loop.body else None
        if not isinstance(inner, For) or inner.axis is not None or count >= ENOUGH * lowering.spec.cores:
            return
        child = next(s for s, x in loops(lowering.module).items() if x is inner)
        if child in kept or has_vectors(inner) or not lowering.attempt(Parallelize(child)):
            return
        site = child


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
