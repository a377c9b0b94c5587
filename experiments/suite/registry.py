"""Every case of the suite in every dialect: operator and shape, the source file and how its sizes are given to it.

The sources of a dialect are declared in ``variants_<dialect>.py`` by the rules of ``experiments.suite.variant``. The eight shapes of an
operator take its float32 sources in turn; sources with other data, and those of operators beside the 21, are cases of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from experiments.suite import variants_cuda, variants_hip, variants_vnni
from experiments.suite.scaling import scaled
from experiments.suite.shapes import EXTRA, OPERATORS, Dims, Operator, find_operator
from experiments.suite.variant import Data, Variant

FOLDER = Path(__file__).parent
DIALECTS = ("cuda", "hip", "vnni")
VARIANTS: dict[str, dict[str, tuple[Variant, ...]]] = {
    "cuda": variants_cuda.VARIANTS,
    "hip": variants_hip.VARIANTS,
    "vnni": variants_vnni.VARIANTS,
}


@dataclass(frozen=True, slots=True)
class Case:
    """``dims`` are the sizes as run. Where they differ from the canonical shape, ``reason`` says why and ``scaled`` is true; the text is
    the same, only the sizes given to it change. ``values`` are the contents of integer inputs that no random ones would do for."""

    operator: str
    shape: str
    source: Path
    dims: Dims
    defines: dict[str, str] = field(default_factory=dict)
    binds: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    dialect: str = "cuda"
    data: Data = Data.F32
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)
    extents: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``operator_shape``; with the source's name instead where several sources share a shape."""
        return f"{self.operator}_{self.shape}" if self.canonical else f"{self.source.stem}_{self.shape}"

    @property
    def canonical(self) -> bool:
        """One of the 168: an operator of the suite in float32."""
        return self.data is Data.F32 and self.operator in OPERATORS

    @property
    def entry(self) -> str:
        return self.operator

    @property
    def scaled(self) -> bool:
        return bool(self.reason)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options that give the sizes to ``xpiler``."""
        options = [part for name, value in self.defines.items() for part in ("-D", f"{name}={value}")]
        options += [part for name, value in self.binds.items() for part in ("--bind", f"{name}={value}")]
        options += [part for name, count in self.extents.items() for part in ("--extent", f"{name}={count}")]
        options += [part for name, values in self.values.items() for part in ("--values", f"{name}={','.join(map(str, values))}")]
        return tuple(options)


def sources(dialect: str) -> list[Path]:
    """The source files that lie in a dialect's folder."""
    return sorted(path for path in (FOLDER / dialect).glob("*") if path.suffix in (".cu", ".hip", ".c", ".cpp"))


def case_of(operator: str, variant: Variant, shape: str, dims: Dims, reason: str = "", dialect: str = "cuda") -> Case:
    """The case that runs a variant at the given dimensions."""
    defines = {name: str(dims[name]) for name in variant.macros}
    binds = {parameter: dims[dimension] for parameter, dimension in variant.binds}
    values = {name: contents(dims) for name, contents in find_operator(operator).integers.items()}
    shapes = find_operator(operator).extents(dims)
    extents = {name: prod(shapes[name]) for name in variant.extents}
    source = FOLDER / dialect / variant.file
    return Case(operator, shape, source, dims, defines, binds, reason, dialect, variant.data, values, extents)


def cases_of(dialect: str) -> tuple[Case, ...]:
    """The cases of a dialect: for every operator the canonical ones, then those of its other sources."""
    found: list[Case] = []
    for operator in (*OPERATORS.values(), *EXTRA.values()):
        variants = VARIANTS[dialect].get(operator.name, ())
        floats = [variant for variant in variants if variant.data is Data.F32]
        if operator.name in OPERATORS:
            found += _in_turn(operator, floats, dialect, operator.cases)
        else:
            found += [_case(operator, variant, shape, dialect) for shape in operator.cases for variant in floats]
        for data in Data:
            others = [variant for variant in variants if variant.data is data and data is not Data.F32]
            found += _others(operator, others, dialect)
    return tuple(found)


def _in_turn(operator: Operator, variants: Sequence[Variant], dialect: str, shapes: Sequence[str]) -> list[Case]:
    """Each shape with the next source that is written for it."""
    found = []
    for number, shape in enumerate(shapes):
        dims, _ = scaled(operator.name, operator.dims_of(shape))
        turn = [variants[(number + step) % len(variants)] for step in range(len(variants))]
        chosen = next((variant for variant in turn if variant.takes(dims)), None)
        if chosen is not None:
            found.append(_case(operator, chosen, shape, dialect))
    return found


def _others(operator: Operator, variants: Sequence[Variant], dialect: str) -> list[Case]:
    """Each source with the first and the last shape that it is written for."""
    found = []
    for variant in variants:
        fitting = [shape for shape in operator.cases if variant.takes(scaled(operator.name, operator.dims_of(shape))[0])]
        found += [_case(operator, variant, shape, dialect) for shape in dict.fromkeys((*fitting[:1], *fitting[-1:]))]
    return found


def _case(operator: Operator, variant: Variant, shape: str, dialect: str) -> Case:
    dims, reason = scaled(operator.name, operator.dims_of(shape))
    return case_of(operator.name, variant, shape, dims, reason, dialect)


CASES: dict[str, tuple[Case, ...]] = {dialect: cases_of(dialect) for dialect in DIALECTS}
