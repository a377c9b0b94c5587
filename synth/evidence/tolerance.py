"""How far a result may be from the source's: by dtype and by the length of the longest reduction that feeds an output.

Floating-point programs that differ in the order of a sum of n terms differ by about sqrt(n) roundings of the size of the partial sums; the factors below
leave an order of magnitude for vector mathematics and contraction. Integers are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from synth.analysis.linear import env_at
from synth.ir.dtypes import DType
from synth.ir.grammar import Body, Call, For, Module, Sync, While
from synth.ir.traversal import bodies, walk

BASE = {DType.F64: 1e-12, DType.F32: 1e-5, DType.F16: 2e-3, DType.BF16: 1.6e-2}
MAX_FACTOR = 30.0
UNKNOWN_TRIPS = 256


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``relative`` to the element and to the root mean square of the buffer; 0 is exact. ``terms`` is the reduction length it was made for."""

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
    """The product of the trip counts of the deepest nest of serial loops, times the threads of a block where these exchange values."""
    return max(1, _longest(module, module.body))


def _longest(module: Module, body: Body) -> int:
    longest = 1
    for stmt in body:
        inner = max((_longest(module, b) for b in bodies(stmt)), default=1)
        if isinstance(stmt, For):
            env = env_at(module, stmt)
            lo, hi, step = env.range_of(stmt.lo).lo, env.range_of(stmt.hi).hi, env.range_of(stmt.step).lo
            known = lo is not None and hi is not None and hi - lo < 1 << 20
            count = max(1, (hi - lo) // max(1, step or 1)) if known and lo is not None and hi is not None else UNKNOWN_TRIPS
            serial = stmt.axis is None
            threads = stmt.axis is not None and stmt.axis.is_thread and _exchanges(stmt.body)
            inner *= count if serial or threads else 1
        elif isinstance(stmt, While):
            inner *= 32
        longest = max(longest, inner)
    return longest


def _exchanges(body: Body) -> bool:
    return any(isinstance(s, Sync) or (isinstance(s, Call) and s.op.startswith("warp.")) for s in walk(body))
