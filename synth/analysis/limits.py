"""Static limits of a launch: threads and dimensions of a block, grid, shared memory."""

from __future__ import annotations

from synth.ir.builder import int_value
from synth.ir.dtypes import lanes, scalar
from synth.ir.grammar import Alloc, Axis, For, Launch, Module, Space
from synth.ir.traversal import walk
from synth.spec import DeviceSpec

_BLOCK = (Axis.BLOCK_X, Axis.BLOCK_Y, Axis.BLOCK_Z)
_THREAD = (Axis.THREAD_X, Axis.THREAD_Y, Axis.THREAD_Z)


def exceeded_limits(module: Module, spec: DeviceSpec) -> tuple[str, ...]:
    """What certainly exceeds the device, in words; sizes that are not literals are checked when the program runs."""
    found: list[str] = []
    for launch in (s for s in walk(module.body) if isinstance(s, Launch)):
        extents = {s.axis: int_value(s.hi) for s in walk(launch.body) if isinstance(s, For) and s.axis is not None}
        for axis, extent in extents.items():
            if axis in (*_BLOCK, *_THREAD) and extent is not None and extent < 1:
                found.append(f"kernel '{launch.kernel}' is launched with {axis.value} of size {extent}; an empty launch is an error")
        block = [extents.get(a) or 1 for a in _THREAD]
        threads = block[0] * block[1] * block[2]
        if threads > spec.max_threads_per_block:
            found.append(f"kernel '{launch.kernel}' has {threads} threads a block; {spec.name} allows {spec.max_threads_per_block}")
        for axis, size, limit in zip(_THREAD, block, spec.max_block, strict=True):
            if size > limit and threads <= spec.max_threads_per_block:
                found.append(f"kernel '{launch.kernel}' has {size} threads in {axis.value}; {spec.name} allows {limit}")
        for axis, size, limit in zip(_BLOCK, [extents.get(a) or 1 for a in _BLOCK], spec.max_grid, strict=True):
            if size > limit:
                found.append(f"kernel '{launch.kernel}' has {size} blocks in {axis.value}; {spec.name} allows {limit}")
        shared = sum(bytes_of(s) for s in walk(launch.body) if isinstance(s, Alloc) and s.space is Space.SHARED)
        most = max(spec.shared_bytes, spec.shared_opt_in_bytes)
        if shared > most:
            found.append(f"kernel '{launch.kernel}' has {shared} bytes of shared memory; {spec.name} allows {most}")
    return tuple(found)


def shared_bytes(launch: Launch) -> int | None:
    """Bytes of shared memory of a block; None where an array has a size that is not a literal."""
    arrays = [s for s in walk(launch.body) if isinstance(s, Alloc) and s.space is Space.SHARED]
    if any(int_value(extent) is None for s in arrays for extent in s.shape):
        return None
    return sum(map(bytes_of, arrays))


def bytes_of(s: Alloc) -> int:
    """The size of a buffer; extents that are not literals count as one."""
    size = scalar(s.dtype).bytes * lanes(s.dtype)
    for extent in s.shape:
        size *= int_value(extent) or 1
    return size
