"""What a lowered module is made of: the parallelism and vectorisation that a result reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from synth.analysis.limits import shared_bytes
from synth.ir.builder import int_value
from synth.ir.dtypes import Vec
from synth.ir.grammar import Axis, Body, Call, Cast, Const, Expr, For, Launch, Module, Var
from synth.ir.traversal import all_exprs, bodies, site_names, walk

_BLOCKS = (Axis.BLOCK_X, Axis.BLOCK_Y, Axis.BLOCK_Z)
_THREADS = (Axis.THREAD_X, Axis.THREAD_Y, Axis.THREAD_Z)

Size = int | str  # what is not a literal is given in words


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """The shape of one launch, x first. ``shared_bytes`` are those of arrays with a literal size (None where there are others too);
    ``tensor_units``: whether it multiplies fragments."""

    kernel: str
    grid: tuple[Size, Size, Size]
    block: tuple[Size, Size, Size]
    shared_bytes: int | None
    tensor_units: bool

    @property
    def is_serial(self) -> bool:
        """One thread."""
        return all(size == 1 for size in (*self.grid, *self.block))

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel,
            "grid": list(self.grid),
            "block": list(self.block),
            "shared_bytes": self.shared_bytes,
            "tensor_units": self.tensor_units,
        }


@dataclass(frozen=True, slots=True)
class StructureReport:
    """Sites of loops by how they run; one over vectors may be parallel too. ``lanes`` is the widest vector of the module (1: none): a
    short loop may have become straight vector code. Loops over blocks and threads are parallel where there is more than one of them."""

    parallel_loops: tuple[str, ...]
    vector_loops: tuple[str, ...]
    simd_loops: tuple[str, ...]
    serial_loops: tuple[str, ...]
    lanes: int
    launches: tuple[LaunchReport, ...] = ()

    @property
    def is_serial(self) -> bool:
        """Neither parallel nor vectorised; with launches: they all have one thread."""
        if self.launches:
            return all(launch.is_serial for launch in self.launches)
        return not (self.parallel_loops or self.vector_loops or self.simd_loops or self.lanes > 1)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "parallel_loops": list(self.parallel_loops),
            "vector_loops": list(self.vector_loops),
            "simd_loops": list(self.simd_loops),
            "serial_loops": list(self.serial_loops),
            "lanes": self.lanes,
        }
        if self.launches:
            found["launches"] = [launch.to_json() for launch in self.launches]
        return found


def structure(module: Module) -> StructureReport:
    """The report of a module."""
    names = site_names(module)
    kinds: dict[str, list[str]] = {"parallel": [], "vector": [], "simd": [], "serial": [], "single": []}

    def visit(body: Body) -> None:
        for stmt in body:
            if isinstance(stmt, For):
                for kind in _kinds(stmt):
                    kinds[kind].append(names[stmt.sym])
            for inner in bodies(stmt):
                visit(inner)

    visit(module.body)
    vectors = [e.type.lanes for e in all_exprs(module.body) if isinstance(e.type, Vec)]
    parallel, vector, simd, serial = (tuple(kinds[k]) for k in ("parallel", "vector", "simd", "serial"))
    launches = tuple(_launch(s) for s in walk(module.body) if isinstance(s, Launch))
    return StructureReport(parallel, vector, simd, serial, max(vectors, default=1), launches)


def _launch(launch: Launch) -> LaunchReport:
    loops = {s.axis: s for s in walk(launch.body) if isinstance(s, For) and s.axis is not None}
    grid, block = ([_size(loops[a].hi) if a in loops else 1 for a in axes] for axes in (_BLOCKS, _THREADS))
    tensor = any(isinstance(s, Call) and s.op == "mma.mma" for s in walk(launch.body))
    return LaunchReport(launch.kernel, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), shared_bytes(launch), tensor)


def _size(extent: Expr) -> Size:
    value = int_value(extent)
    if value is not None:
        return value
    inner = extent.a if isinstance(extent, Cast) else extent
    return inner.sym.name if isinstance(inner, Var) else "computed"


def _kinds(loop: For) -> tuple[str, ...]:
    if loop.axis is not None and (loop.axis.is_block or loop.axis.is_thread):
        return ("single",) if int_value(loop.hi) == 1 else ("parallel",)
    found = []
    if loop.axis is Axis.OMP:
        found.append("parallel")
    if loop.axis is Axis.SIMD:
        found.append("simd")
    if isinstance(loop.step, Const) and int(loop.step.value) > 1 and _has_vectors(loop.body):
        found.append("vector")
    return tuple(found) or ("serial",)


def _has_vectors(body: Body) -> bool:
    return any(isinstance(e.type, Vec) for e in all_exprs(body))
