"""Which part of an array a block of threads reads in one tile of a loop: a box of elements, and where each access lies in it.

The index of the access is a polynomial over the numbers of the threads, the loop's variable and those of loops within it, and values that
are the same for the whole block. What those that vary contribute is a sum of non-negative multiples; multiples of one stride whose windows
overlap lie in one dimension of the box (the halo of a stencil), others in dimensions of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.analysis.linear import to_expr
from synth.analysis.polynomial import Poly, atom_poly
from synth.ir.grammar import Expr, Load, Sym, Var
from synth.ir.traversal import walk_expr


@dataclass(frozen=True, slots=True)
class Local:
    """Something that varies within a tile: ``value`` counts from 0 to ``extent - 1``; ``name`` is the atom that stands for it in indexes,
    which is ``start + value``."""

    name: Var
    start: Poly
    extent: int


@dataclass(slots=True)
class Dimension:
    """Elements ``stride * 0, stride * 1, ...`` from the base on. ``members`` are its parts with their multiples of the stride."""

    stride: Poly
    extent: int = 1
    members: list[tuple[Local, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tile:
    """``base`` is the element where all that varies is at its start; the dimensions, the one with the largest stride first."""

    base: Poly
    dimensions: tuple[Dimension, ...]

    def exprs(self) -> tuple[Expr, ...]:
        """What the block computes of it: the base and the strides."""
        return (to_expr(self.base), *(to_expr(d.stride) for d in self.dimensions))

    @property
    def elements(self) -> int:
        count = 1
        for d in self.dimensions:
            count *= d.extent
        return count


def tile_of(index: Poly, locals_: tuple[Local, ...], varying: frozenset[Sym]) -> Tile | str:
    """The tile of an access, or why it is no box."""
    base, strides = index, []
    for local in locals_:
        if any(m.count(local.name) > 1 for m in base.terms):
            return "an index is not linear in what varies within a block"
        stride = base.coefficient(local.name)
        base = base.without(local.name) + stride * local.start
        strides.append((local, stride))
    names = {x.name.sym for x in locals_} | varying
    if _mentions(base, names) or any(_mentions(stride, names) for _, stride in strides):
        return "an index depends on more than the numbers of threads and the loops of a tile"
    parts = [(x, s) for x, s in strides if s.terms and x.extent > 1]
    if any(_ratio(s, s) is None or min(s.terms.values()) < 0 for _, s in parts):
        return "an index falls where another rises"
    dimensions: list[Dimension] = []
    for local, stride in sorted(parts, key=lambda part: (len(part[1].terms) > 1 or part[1].constant is None, _size(part[1]))):
        home = next((d for d in dimensions if (r := _ratio(stride, d.stride)) is not None and r < max(d.extent, 2)), None)
        if home is None:
            home = Dimension(stride)
            dimensions.append(home)
        ratio = _ratio(stride, home.stride) or 1
        home.members.append((local, ratio))
        home.extent += ratio * (local.extent - 1)
    return Tile(base, tuple(reversed(dimensions)))


def _size(stride: Poly) -> int:
    return sum(stride.terms.values())


def _ratio(a: Poly, b: Poly) -> int | None:
    """``r`` such that ``a = r * b``, a positive integer."""
    if a.terms.keys() != b.terms.keys() or not a.terms:
        return None
    ratios = {a.terms[m] // b.terms[m] if a.terms[m] % b.terms[m] == 0 else 0 for m in a.terms}
    r = ratios.pop()
    return r if not ratios and r > 0 else None


def _mentions(poly: Poly, syms: set[Sym] | frozenset[Sym]) -> bool:
    nodes = [e for atom in poly.atoms() for e in walk_expr(atom)]
    return any((isinstance(e, Var) and e.sym in syms) or isinstance(e, Load) for e in nodes)


def position(d: Dimension) -> Poly:
    """Where an access lies in a dimension of the box."""
    total = Poly()
    for local, ratio in d.members:
        total = total + (atom_poly(local.name) - local.start).scaled(ratio)
    return total
