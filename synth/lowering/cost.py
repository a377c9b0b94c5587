"""A static cost model: how expensive a loop body is per iteration, and what vectorising a loop would bring. Figures are modelled, in rough
cycles of one core; they rank candidates and are never reported as speed.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.access import accesses
from synth.analysis.linear import Env, env_at, private_buffers
from synth.ir.grammar import Body, Const, For, Math, Module, Var
from synth.ir.traversal import bodies, stmt_exprs, walk_expr

UNKNOWN_TRIPS = 64
MATH_COST = {"fma": 1.0, "abs": 1.0, "sqrt": 6.0, "rsqrt": 8.0, "floor": 1.0, "ceil": 1.0, "trunc": 1.0, "rint": 1.0}
EXPENSIVE = 20.0
GATHER = 2.0  # a lane loaded on its own


@dataclass(frozen=True, slots=True)
class VectorGain:
    """Weighted accesses of a loop by their stride over it; ``gain`` is modelled scalar time over vector time."""

    contiguous: float
    invariant: float
    scattered: float
    gain: float


def trips(loop: For, module: Module) -> int:
    """Iterations: the literal count, or ``UNKNOWN_TRIPS``."""
    return count_of(loop, env_at(module, loop))


def count_of(loop: For, env: Env) -> int:
    """The same, where ``env`` holds before the loop."""
    span = env.bounds(env.normal(loop.hi) - env.normal(loop.lo)).hi
    step = int(loop.step.value) if isinstance(loop.step, Const) else 1
    if span is None or span > 1 << 28:
        return UNKNOWN_TRIPS
    return max(1, -(-span // step))


def vector_gain(module: Module, loop: For, lanes: int) -> VectorGain:
    """How much faster ``loop`` would run in vectors of ``lanes``, modelled from the strides of its accesses and its arithmetic."""
    env = env_at(module, loop).with_loop(loop)
    x = Var(loop.sym, loop.dtype)
    private = private_buffers(loop.body)
    contiguous = invariant = scattered = 0.0
    for access in accesses(loop.body, env):
        if access.buf in private:
            continue
        weight = 1.0
        for inner in access.env.loops[len(env.loops) :]:
            weight *= trips(inner, module)
        strides = [access.env.normal(i) for i in access.index]
        mentions = [any(isinstance(v, Var) and v.sym == x.sym for a in p.atoms() for v in walk_expr(a)) for p in strides]
        if not any(mentions):
            invariant += weight
        elif not any(mentions[:-1]) and strides[-1].terms.get((x,)) == 1:
            contiguous += weight
        else:
            scattered += weight
    work = _work(loop.body, module)
    scalar_time = contiguous + invariant + scattered + work
    vector_time = (contiguous + invariant + work) / lanes + scattered * GATHER
    count = trips(loop, module)
    efficiency = count / (-(-count // lanes) * lanes)
    return VectorGain(contiguous, invariant, scattered, scalar_time / max(vector_time, 1e-9) * efficiency)


def _work(body: Body, module: Module) -> float:
    """Arithmetic of one execution of a body."""
    total = 0.0
    for stmt in body:
        inner = sum(_work(b, module) for b in bodies(stmt))
        if isinstance(stmt, For):
            inner *= trips(stmt, module)
        nodes = (e for root in stmt_exprs(stmt) for e in walk_expr(root))
        own = sum((MATH_COST.get(e.fn, EXPENSIVE) if isinstance(e, Math) else 0.5) for e in nodes)
        total += own + inner
    return total
