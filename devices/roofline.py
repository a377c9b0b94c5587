"""Whether a measured time is possible: no program moves its data faster than the memory allows.

Only the traffic that cannot be avoided counts, each buffer once; where it may stay in a cache from one call to the next (the timing
protocol is a warm one), the bound is that of the last-level cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.evidence.cases import BufferArg, TestCase
from synth.spec import DeviceSpec

# A core moves at most one 64-byte line in and one out per cycle to its nearest cache; 6 GHz is beyond any part sold
_NEAREST_CACHE_BYTES_PER_SECOND = 2 * 64 * 6e9
# Larger than the last-level cache of any part: what is bigger must come from memory in part
_LARGEST_CACHE_BYTES = 1536 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Roofline:
    """``least_seconds``: a call that takes less cannot have touched its data. ``flagged``: the measured time is below it."""

    bytes: int
    least_seconds: float
    flagged: bool


def unavoidable_bytes(case: TestCase) -> int:
    """Bytes of all buffers of a call, each once: an in-out buffer is both read and written, but may be one transfer in a cache."""
    return sum(a.count * a.dtype.bytes for a in case.args if isinstance(a, BufferArg))


def check(seconds: float, case: TestCase, spec: DeviceSpec, cores: int) -> Roofline:
    """Holds ``seconds`` of one call against the bound of ``spec`` with ``cores`` cores at work. Buffers of which the program touches only
    a part make a false flag possible: a flag asks for a look, it is no verdict."""
    moved = unavoidable_bytes(case)
    if moved > _LARGEST_CACHE_BYTES and spec.bandwidth_gbs > 0:
        # nominal bandwidth is of one device of that name; twice as much still counts as possible
        least = moved / (2 * spec.bandwidth_gbs * 1e9)
    else:
        least = moved / (_NEAREST_CACHE_BYTES_PER_SECOND * max(1, cores))
    return Roofline(moved, least, seconds < least)
