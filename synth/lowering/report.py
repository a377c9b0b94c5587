"""What a lowered module is made of: the parallelism and vectorisation that a result reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from synth.ir.dtypes import Vec
from synth.ir.grammar import Axis, Body, Const, For, Load, Module, Store
from synth.ir.traversal import all_exprs, bodies, site_names


@dataclass(frozen=True, slots=True)
class StructureReport:
    """Sites of loops by how they run; ``lanes`` is the widest vector of the module (1: none)."""

    parallel_loops: tuple[str, ...]
    vector_loops: tuple[str, ...]
    simd_loops: tuple[str, ...]
    serial_loops: tuple[str, ...]
    lanes: int

    @property
    def is_serial(self) -> bool:
        """Neither parallel nor vectorised."""
        return not (self.parallel_loops or self.vector_loops or self.simd_loops)

    def to_json(self) -> dict[str, Any]:
        return {
            "parallel_loops": list(self.parallel_loops),
            "vector_loops": list(self.vector_loops),
            "simd_loops": list(self.simd_loops),
            "serial_loops": list(self.serial_loops),
            "lanes": self.lanes,
        }


def structure(module: Module) -> StructureReport:
    """The report of a module."""
    names = site_names(module)
    kinds: dict[str, list[str]] = {"parallel": [], "vector": [], "simd": [], "serial": []}

    def visit(body: Body) -> None:
        for stmt in body:
            if isinstance(stmt, For):
                kinds[_kind(stmt)].append(names[stmt.sym])
            for inner in bodies(stmt):
                visit(inner)

    visit(module.body)
    vectors = [e.type.lanes for e in all_exprs(module.body) if isinstance(e.type, Vec)]
    parallel, vector, simd, serial = (tuple(kinds[k]) for k in ("parallel", "vector", "simd", "serial"))
    return StructureReport(parallel, vector, simd, serial, max(vectors, default=1))


def _kind(loop: For) -> str:
    if loop.axis is Axis.OMP:
        return "parallel"
    if loop.axis is Axis.SIMD:
        return "simd"
    stepped = isinstance(loop.step, Const) and int(loop.step.value) > 1
    return "vector" if stepped and _has_vectors(loop.body) else "serial"


def _has_vectors(body: Body) -> bool:
    return any(isinstance(e.type, Vec) for e in all_exprs(body) if isinstance(e, Load)) or any(
        isinstance(s, Store) and isinstance(s.value.type, Vec) for s in body
    )
