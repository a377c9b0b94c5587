"""How a result runs, in words: from the structure that ``xpiler`` reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """``serial``: neither parallel nor vectorised. ``text`` is for the table."""

    serial: bool
    text: str


def describe(structure: dict[str, Any]) -> Kind:
    """The kind of a reported structure; an empty one (no result) counts as serial."""
    parallel = len(structure.get("parallel_loops", ()))
    vector = len(structure.get("vector_loops", ()))
    simd = len(structure.get("simd_loops", ()))
    lanes = int(structure.get("lanes", 1))
    parts = [f"{number} {name}" for number, name in ((parallel, "omp"), (vector, f"vector x{lanes}"), (simd, "simd")) if number]
    return Kind(not (parallel or vector or simd), " + ".join(parts) or "none")
