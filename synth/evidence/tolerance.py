"""How far a result may be from the source's: by dtype and by the length of the longest reduction that feeds an output.

Floating-point programs that differ in the order of a sum of n terms differ by about sqrt(n) roundings of the size of the partial sums; the
factors below leave an order of magnitude for vector mathematics and contraction. Integers are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from synth.analysis.linear import env_at
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Alloc, Body, Call, Expr, For, Let, Load, Module, Store, Sym, Sync, Var, While
from synth.ir.traversal import all_exprs, bodies, walk, walk_expr

BASE = {DType.F64: 1e-12, DType.F32: 1e-5, DType.F16: 2e-3, DType.BF16: 1.6e-2}
MAX_FACTOR = 30.0
UNKNOWN_TRIPS = 256


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``relative`` to the element and to the root mean square of the buffer; 0 is exact. ``terms``: the reduction length it is for."""

    relative: float
    terms: int = 1

    def __str__(self) -> str:
        return "exact" if self.relative == 0 else f"{self.relative:.1e} of element + rms ({self.terms} terms)"


def tolerances(module: Module) -> dict[str, Tolerance]:
    """The tolerance of every buffer parameter, by name."""
    terms = longest_reduction(module)
    factor = min(MAX_FACTOR, max(1.0, math.sqrt(terms) / 4))
    found = {}
    for p in module.params:
        if p.is_buffer:
            found[p.sym.name] = Tolerance(BASE[p.dtype] * factor, terms) if p.dtype.is_float else Tolerance(0.0)
    return found


def longest_reduction(module: Module) -> int:
    """The most terms that are folded into one value: the product of the trip counts of the deepest nest of loops that accumulate.

    A loop accumulates when it stores a float to a place that does not change with its variable and that it also reads. Threads of a
    block count where they fold values in steps with exchanges between them (trees, shuffles), instead of the steps; all threads
    where they add atomically. OpenMP and simd loops count as serial ones: they accumulate in declared reductions. Loops of unknown
    length count ``UNKNOWN_TRIPS``.
    """
    floats = {p.sym for p in module.params if p.is_buffer and p.dtype.is_float}
    floats |= {s.sym for s in walk(module.body) if isinstance(s, Alloc) and scalar(s.dtype).is_float}
    return max(1, _longest(module, module.body, floats))


def _longest(module: Module, body: Body, floats: set[Sym]) -> int:
    longest = 1
    for stmt in body:
        inner = max((_longest(module, b, floats) for b in bodies(stmt)), default=1)
        if isinstance(stmt, For):
            counts = _threads_fold(stmt, floats) if _is_simt(stmt) else _sums(stmt, floats)
            inner *= _trips(module, stmt) if counts else 1
        elif isinstance(stmt, While) and _sums(stmt, floats):
            inner *= UNKNOWN_TRIPS
        longest = max(longest, inner)
    return longest


def _is_simt(loop: For) -> bool:
    return loop.axis is not None and (loop.axis.is_block or loop.axis.is_thread)


def _trips(module: Module, loop: For) -> int:
    env = env_at(module, loop)
    lo, hi, step = env.range_of(loop.lo).lo, env.range_of(loop.hi).hi, env.range_of(loop.step).lo
    if lo is None or hi is None or hi - lo >= 1 << 20:
        return UNKNOWN_TRIPS
    return max(1, (hi - lo) // max(1, step or 1))


def _sums(loop: For | While, floats: set[Sym]) -> bool:
    """Whether each iteration adds a term (and not one step of a fold over threads)."""
    return not _is_fold(loop, floats) and _accumulates(loop.body, loop.sym if isinstance(loop, For) else None, floats)


def _is_fold(loop: For | While, floats: set[Sym]) -> bool:
    """Whether the iterations are the steps of a fold over threads: shuffles, or barriers in a loop that does not count up."""
    steps = _shuffles(loop.body) or (isinstance(loop, While) and any(isinstance(s, Sync) for s in walk(loop.body)))
    return steps and _accumulates(loop.body, loop.sym if isinstance(loop, For) else None, floats)


def _shuffles(body: Body) -> bool:
    return any(isinstance(s, Call) and s.op.startswith("warp.") for s in walk(body))


def _accumulates(body: Body, variable: Sym | None, floats: set[Sym]) -> bool:
    own = {s.sym for s in walk(body) if isinstance(s, Alloc)}
    read = {e.buf for e in all_exprs(body) if isinstance(e, Load)}
    moving = _moving(body, variable)
    return any(
        isinstance(s, Store) and s.buf in floats and s.buf in read and s.buf not in own and not any(_uses(i, moving) for i in s.index)
        for s in walk(body)
    )


def _moving(body: Body, variable: Sym | None) -> set[Sym]:
    """Names whose value changes with a loop's variable: the variable, what is defined by it, and variables of loops inside."""
    moving = {variable} if variable is not None else set()
    for s in walk(body):
        if isinstance(s, Let | For):
            sources = (s.value,) if isinstance(s, Let) else (s.lo, s.hi)
            if any(_uses(e, moving) for e in sources):
                moving.add(s.sym)
    return moving


def _uses(e: Expr, names: set[Sym]) -> bool:
    return any(isinstance(x, Var) and x.sym in names for x in walk_expr(e))


def _threads_fold(loop: For, floats: set[Sym]) -> bool:
    """Whether the iterations of a bound loop may put their values together."""
    if any(isinstance(s, Call) and s.op.startswith("atomic") for s in walk(loop.body)):
        return True
    is_thread = loop.axis is not None and loop.axis.is_thread  # the blocks of a grid meet in atomics only
    return is_thread and (_shuffles(loop.body) or any(isinstance(s, While) and _is_fold(s, floats) for s in walk(loop.body)))
