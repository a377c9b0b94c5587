"""Integer buffers whose elements say where other buffers are accessed: what they must hold for the program to be valid.

Two uses are recognised: an element takes part in the index of an access (``table[ids[i] * d + j]``), or it bounds a loop whose variable
does (``for (k = row[i]; k < row[i + 1]; k++) x[k]``). The limit is the extent of what is accessed over the factor of the element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from synth.evidence.sizes import Scalars, try_value
from synth.ir.grammar import Alloc, Binary, Call, Cast, Expr, For, Let, Load, Module, Region, Store, Sym, Var
from synth.ir.traversal import all_exprs, expr_children, region_exprs, walk, walk_expr

LOOP_LIMIT = 64  # for elements that bound a loop which accesses nothing of known extent


@dataclass(frozen=True, slots=True)
class IndexRule:
    """Elements lie in ``0 <= value < below``; ``ascending`` where each is a bound of the next one's loop."""

    below: int
    ascending: bool = False

    def meet(self, other: IndexRule) -> IndexRule:
        return IndexRule(min(self.below, other.below), self.ascending or other.ascending)


@dataclass(slots=True)
class _Reader:
    module: Module
    scalars: Scalars
    lets: dict[Sym, list[Expr]] = field(default_factory=dict)
    loops: dict[Sym, For] = field(default_factory=dict)
    extents: dict[Sym, int] = field(default_factory=dict)
    known: dict[Sym, int] = field(default_factory=dict)
    rules: dict[Sym, IndexRule] = field(default_factory=dict)

    def note(self, buffer: Sym, rule: IndexRule) -> None:
        self.rules[buffer] = self.rules[buffer].meet(rule) if buffer in self.rules else rule

    def follow(self, e: Expr, scale: int, extent: int, seen: frozenset[Sym]) -> None:
        """``e`` times ``scale`` is a part of an index below ``extent``."""
        match e:
            case Load() if e.buf in self.extents and e.index and e.type in _integers(self.module, e.buf):
                self.note(e.buf, IndexRule(max(1, extent // max(1, scale))))
            case Load() if not e.index and e.buf in self.lets and e.buf not in seen:
                for value in self.lets[e.buf]:
                    self.follow(value, scale, extent, seen | {e.buf})
            case Var() if e.sym in self.lets and e.sym not in seen:
                self.follow(self.lets[e.sym][0], scale, extent, seen | {e.sym})
            case Var() if e.sym in self.loops and e.sym not in seen:
                self.bounded(self.loops[e.sym], max(1, extent // max(1, scale)), seen | {e.sym})
            case Binary(op="mul" | "shl"):
                for inner, other in ((e.a, e.b), (e.b, e.a)):
                    factor = try_value(other, self.scalars, self.known)
                    times = 1 if factor is None else abs(factor) if e.op == "mul" else 1 << min(max(factor, 0), 62)
                    self.follow(inner, scale * max(1, times), extent, seen)
            case Binary(op="mod"):
                pass  # its result is bounded whatever the element holds
            case Cast() | Binary():
                for child in expr_children(e):
                    self.follow(child, scale, extent, seen)
            case _:
                for child in () if isinstance(e, Load) else expr_children(e):
                    self.follow(child, scale, extent, seen)

    def bounded(self, loop: For, extent: int, seen: frozenset[Sym]) -> None:
        """The variable of ``loop`` stays below ``extent``: so do the elements that bound it."""
        for bound in (loop.lo, loop.hi):
            for e in self.resolved(bound, seen):
                if isinstance(e, Load) and e.index and e.buf in self.extents and e.type in _integers(self.module, e.buf):
                    self.note(e.buf, IndexRule(extent + 1, ascending=True))

    def resolved(self, e: Expr, seen: frozenset[Sym]) -> Iterator[Expr]:
        """All parts of an expression and of the values of the names in it."""
        for part in walk_expr(e):
            yield part
            name = part.sym if isinstance(part, Var) else part.buf if isinstance(part, Load) and not part.index else None
            if name in self.lets and name is not None and name not in seen:
                for value in self.lets[name]:
                    yield from self.resolved(value, seen | {name})


def index_rules(module: Module, scalars: Scalars) -> dict[Sym, IndexRule]:
    """The rules of integer buffer parameters, for given values of the scalar ones. Buffers that index nothing have none."""
    reader = _Reader(module, scalars)
    for p in module.params:
        extent = try_value(p.shape[0], scalars) if p.shape else None
        if extent is not None:
            reader.extents[p.sym] = extent
    for s in walk(module.body):
        if isinstance(s, Let):
            reader.lets[s.sym] = [s.value]
            value = try_value(s.value, scalars, reader.known)
            if value is not None:
                reader.known[s.sym] = value
        elif isinstance(s, For):
            reader.loops[s.sym] = s
        elif isinstance(s, Store) and not s.index:
            reader.lets.setdefault(s.buf, []).append(s.value)
    shapes = _shapes(module, reader)
    for buffer, index in _accesses(module):
        for position, part in enumerate(index):
            shape = shapes.get(buffer)
            extent = None if shape is None else shape[position] if len(index) == len(shape) else prod(shape)
            if extent is not None:
                reader.follow(part, 1, extent, frozenset())
    for loop in reader.loops.values():
        for bound in (loop.lo, loop.hi):
            for e in reader.resolved(bound, frozenset()):
                if isinstance(e, Load) and e.index and e.type in _integers(module, e.buf) and e.buf not in reader.rules:
                    reader.note(e.buf, IndexRule(LOOP_LIMIT, ascending=True))
    return reader.rules


def _integers(module: Module, buffer: Sym) -> tuple[object, ...]:
    """The dtype of an integer buffer parameter, in a tuple; empty for anything else."""
    return tuple(p.dtype for p in module.params if p.sym == buffer and p.is_buffer and p.dtype.is_int)


def _shapes(module: Module, reader: _Reader) -> Mapping[Sym, tuple[int, ...]]:
    shapes: dict[Sym, tuple[int, ...]] = {sym: (extent,) for sym, extent in reader.extents.items()}
    for s in walk(module.body):
        if isinstance(s, Alloc) and s.shape:
            shape = [try_value(e, reader.scalars, reader.known) for e in s.shape]
            if None not in shape:
                shapes[s.sym] = tuple(n for n in shape if n is not None)
    return shapes


def _accesses(module: Module) -> Iterator[tuple[Sym, tuple[Expr, ...]]]:
    for e in all_exprs(module.body):
        if isinstance(e, Load) and e.index:
            yield e.buf, e.index
    for s in walk(module.body):
        if isinstance(s, Store) and s.index:
            yield s.buf, s.index
        elif isinstance(s, Call):
            for region in (*s.dests, *(a for a in s.args if isinstance(a, Region))):
                yield region.buf, region_exprs(region)[: len(region.index)]
