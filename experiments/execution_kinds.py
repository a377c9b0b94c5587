"""How a result runs, in words: from the structure that ``xpiler`` reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """``serial``: neither parallel nor vectorised; on a GPU: one thread in all. ``text`` is for the table; ``tensor_units``: some launch
    multiplies matrix fragments."""

    serial: bool
    text: str
    tensor_units: bool = False


def describe(structure: dict[str, Any]) -> Kind:
    """The kind of a reported structure; an empty one (no result) counts as serial."""
    launches: Sequence[Mapping[str, Any]] = structure.get("launches", ())
    if launches:
        serial = all(size == 1 for launch in launches for size in (*launch["grid"], *launch["block"]))
        return Kind(serial, "; ".join(map(_launch, launches)), any(launch["tensor_units"] for launch in launches))
    parallel = len(structure.get("parallel_loops", ()))
    vector = len(structure.get("vector_loops", ()))
    simd = len(structure.get("simd_loops", ()))
    lanes = int(structure.get("lanes", 1))
    parts = [f"{number} {name}" for number, name in ((parallel, "omp"), (vector, f"vector x{lanes}"), (simd, "simd")) if number]
    return Kind(not (parallel or vector or simd), " + ".join(parts) or "none")


def _launch(launch: Mapping[str, Any]) -> str:
    """``grid 4x2, block 16x16, 2048 B shared, tensor units``."""
    shared = launch["shared_bytes"]
    parts = [f"grid {_shape(launch['grid'])}", f"block {_shape(launch['block'])}"]
    parts += ["shared of a size known at the call"] if shared is None else [f"{shared} B shared"] if shared else []
    parts += ["tensor units"] if launch["tensor_units"] else []
    return ", ".join(parts)


def _shape(sizes: Sequence[int | str]) -> str:
    """Extents, x first, without trailing ones."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " x ".join(map(str, kept))
