"""What a lowered module is made of: the parallelism and vectorisation that a result reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from synth.ir.dtypes import Vec
from synth.ir.grammar import Axis, Body, Const, For, Module
from synth.ir.traversal import all_exprs, bodies, site_names


@dataclass(frozen=True, slots=True)
class StructureReport:
    """Sites of loops by how they run; one over vectors may be parallel too. ``lanes`` is the widest vector of the module (1: none): a
    short loop
    may have become straight vector code."""

    parallel_loops: tuple[str, ...]
    vector_loops: tuple[str, ...]
    simd_loops: tuple[str, ...]
    serial_loops: tuple[str, ...]
    lanes: int

    @property
    def is_serial(self) -> bool:
        """Neither parallel nor vectorised."""
        return not (self.parallel_loops or self.vector_loops or self.simd_loops or self.lanes > 1)

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
                for kind in _kinds(stmt):
                    kinds[kind].append(names[stmt.sym])
            for inner in bodies(stmt):
                visit(inner)

    visit(module.body)
    vectors = [e.type.lanes for e in all_exprs(module.body) if isinstance(e.type, Vec)]
    parallel, vector, simd, serial = (tuple(kinds[k]) for k in ("parallel", "vector", "simd", "serial"))
    return StructureReport(parallel, vector, simd, serial, max(vectors, default=1))


def _kinds(loop: For) -> tuple[str, ...]:
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
