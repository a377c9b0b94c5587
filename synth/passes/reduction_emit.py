"""Writing folds of cells as loops."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Binary, Body, Const, Expr, For, Load, Space, Stmt, Store, Sym
from synth.ir.traversal import bodies
from synth.passes.concrete import Cell, Fold, Value

_MAX_SEPARATE = 4


@dataclass(frozen=True, slots=True)
class Results:
    """The final values of the live changed cells; ``types``: element types of the buffers."""

    cells: dict[Cell, Value]
    types: dict[Sym, DType]


@dataclass(frozen=True, slots=True)
class Box:
    """Cells ``buf[origin + i * stride]`` for ``0 <= i < extent``, dimension by dimension (stride 0 where the extent is 1)."""

    buf: Sym
    origin: tuple[int, ...]
    stride: tuple[int, ...]
    extent: tuple[int, ...]

    @property
    def shape(self) -> tuple[Sym, tuple[int, ...], tuple[int, ...]]:
        return self.buf, self.stride, self.extent


def as_box(cells: Sequence[Cell]) -> Box | None:
    """The cells of one buffer as a box, or None."""
    buf = cells[0][0]
    points = {c[1] for c in cells if c[0] == buf}
    if len(points) != len(cells):
        return None
    axes = [sorted(set(column)) for column in zip(*points, strict=True)]
    steps = [axis[1] - axis[0] if len(axis) > 1 else 0 for axis in axes]
    if any(y - x != step for axis, step in zip(axes, steps, strict=True) for x, y in itertools.pairwise(axis)):
        return None
    count = 1
    for axis in axes:
        count *= len(axis)
    if count != len(points):
        return None
    return Box(buf, tuple(axis[0] for axis in axes), tuple(steps), tuple(len(axis) for axis in axes))


def _boxes(cells: Sequence[Cell]) -> list[Box] | None:
    """One box a buffer, or None."""
    found: list[Box] = []
    for _, group in itertools.groupby(sorted(cells, key=lambda c: (c[0].uid, c[1])), key=lambda c: c[0]):
        box = as_box(list(group))
        if box is None:
            return None
        found.append(box)
    return found


@dataclass(frozen=True, slots=True)
class _Group:
    """Cells that end with one value."""

    value: Fold
    sources: list[Box]
    targets: list[Box]


def _groups(results: Results) -> list[_Group] | None:
    by_value: dict[Fold, list[Cell]] = {}
    for cell, value in results.cells.items():
        if isinstance(value, Fold):
            by_value.setdefault(value, []).append(cell)
    found: list[_Group] = []
    for value, cells in by_value.items():
        sources, targets = _boxes(list(value.cells)), _boxes(cells)
        if sources is None or targets is None:
            return None
        found.append(_Group(value, sources, targets))
    return sorted(found, key=lambda g: (g.targets[0].buf.uid, g.targets[0].origin))


def emit(results: Results) -> Body | None:
    """Code that gives every cell its value; None when the folds do not fit into a few loops."""
    groups = _groups(results)
    if groups is None:
        return None
    numbers = _numbers(results)
    family = _family(groups)
    if family is not None:
        code = _emit_family(groups, family, results)
        return None if code is None else (*code, *numbers)
    if len(groups) > _MAX_SEPARATE:
        return None
    folds: list[Stmt] = []
    stores: list[Stmt] = []
    for group in groups:
        made = _fold(group, results, None)
        if made is None:
            return None
        folds += made[0]
        stores += made[1]
    return (*folds, *stores, *numbers)


def _numbers(results: Results) -> Body:
    """Cells that end with a known number."""
    out: list[Stmt] = []
    for (buf, index), value in sorted(results.cells.items(), key=lambda item: (item[0][0].uid, item[0][1])):
        if isinstance(value, int | float):
            out.append(Store(buf, tuple(b.i32(i) for i in index), b.const(value, results.types[buf])))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class _Step:
    """How the boxes of a family move from one member to the next: member ``k`` is at ``origin + k * step``."""

    sources: list[tuple[int, ...]]
    targets: list[tuple[int, ...]]


def _family(groups: list[_Group]) -> _Step | None:
    """Groups that are one group moved in equal steps."""
    if len(groups) < 2:
        return None
    first = groups[0]
    kinds = {(g.value.op, g.value.const, tuple(x.shape for x in g.sources), tuple(x.shape for x in g.targets)) for g in groups}
    if len(kinds) != 1:
        return None

    def moves(boxes: list[list[Box]]) -> list[tuple[int, ...]] | None:
        steps = [tuple(y - x for x, y in zip(p.origin, q.origin, strict=True)) for p, q in zip(boxes[0], boxes[1], strict=True)]
        for k, member in enumerate(boxes):
            for box, start, step in zip(member, boxes[0], steps, strict=True):
                if box.origin != tuple(o + k * s for o, s in zip(start.origin, step, strict=True)):
                    return None
        return steps

    sources, targets = moves([g.sources for g in groups]), moves([g.targets for g in groups])
    if sources is None or targets is None or not first.targets:
        return None
    return _Step(sources, targets)


def _emit_family(groups: list[_Group], step: _Step, results: Results) -> Body | None:
    """A loop over the members. A member must not read what an earlier one has stored."""
    stored: set[Cell] = set()
    for group in groups:
        if stored & group.value.cells:
            return None
        stored |= {c for c, v in results.cells.items() if v == group.value}
    k = Sym("row")
    made = _fold(groups[0], results, (k, step))
    if made is None:
        return None
    return (For(k, DType.I32, b.i32(0), b.i32(len(groups)), b.i32(1), (*made[0], *made[1])),)


def _fold(group: _Group, results: Results, member: tuple[Sym, _Step] | None) -> tuple[Body, Body] | None:
    """``(accumulate, store)`` for one group."""
    kinds = {results.types[box.buf] for box in (*group.sources, *group.targets)}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    accumulator = Sym(f"{group.targets[0].buf.name.split('.')[0]}.{group.value.op}")
    source_steps = member[1].sources if member else [None] * len(group.sources)
    target_steps = member[1].targets if member else [None] * len(group.targets)
    k = member[0] if member else None
    start = _start(group, kind, k, source_steps[0])
    body: list[Stmt] = [Alloc(accumulator, kind, (), Space.LOCAL), Store(accumulator, (), start)]
    for box, step in zip(group.sources, source_steps, strict=True):
        index, loops = _indexes(box, k, step, "t")
        value = Binary(group.value.op, Load(accumulator, (), kind), Load(box.buf, index, kind))
        body += _nest(loops, Store(accumulator, (), value))
    stores: list[Stmt] = []
    for box, step in zip(group.targets, target_steps, strict=True):
        index, loops = _indexes(box, k, step, "t")
        stores += _nest(loops, Store(box.buf, index, Load(accumulator, (), kind)))
    return tuple(body), tuple(stores)


def _start(group: _Group, kind: DType, k: Sym | None, step: tuple[int, ...] | None) -> Expr:
    """The accumulator before the loop: the constant part, a neutral number, or (for max and min, which are idempotent) the first
    element."""
    op, const = group.value.op, group.value.const
    if const is not None:
        return Const(float(const) if kind.is_float else int(const), kind)
    if op in ("add", "mul"):
        return b.const(0 if op == "add" else 1, kind)
    first = group.sources[0]
    index = tuple(_at(o, b.i32(0), 0, k, s) for o, s in zip(first.origin, step or (0,) * len(first.origin), strict=True))
    return Load(first.buf, index, kind)


def _at(origin: int, i: Expr, stride: int, k: Sym | None, step: int) -> Expr:
    """``origin + stride * i + step * k``."""
    terms: list[Expr] = []
    if k is not None and step:
        terms.append(b.var(k) if step == 1 else b.mul(b.var(k), b.i32(step)))
    if stride:
        terms.append(i if stride == 1 else b.mul(i, b.i32(stride)))
    if origin or not terms:
        terms.append(b.i32(origin))
    total = terms[0]
    for term in terms[1:]:
        total = b.add(total, term)
    return total


def _indexes(box: Box, k: Sym | None, step: tuple[int, ...] | None, name: str) -> tuple[tuple[Expr, ...], list[tuple[Sym, int, int]]]:
    """The index of a running element, and its loops ``(symbol, from, to)``, outermost first. Unit strides start at the origin."""
    index: list[Expr] = []
    loops: list[tuple[Sym, int, int]] = []
    for origin, stride, extent, move in zip(box.origin, box.stride, box.extent, step or (0,) * len(box.origin), strict=True):
        sym = Sym(name)
        if extent == 1:
            index.append(_at(origin, b.i32(0), 0, k, move))
        elif stride == 1:
            loops.append((sym, origin, origin + extent))
            index.append(_at(0, b.var(sym), 1, k, move))
        else:
            loops.append((sym, 0, extent))
            index.append(_at(origin, b.var(sym), stride, k, move))
    return tuple(index), loops


def _nest(loops: list[tuple[Sym, int, int]], stmt: Stmt) -> Body:
    body: Body = (stmt,)
    for sym, lo, hi in reversed(loops):
        body = (For(sym, DType.I32, b.i32(lo), b.i32(hi), b.i32(1), body),)
    return body


def new_stores(body: Body) -> int:
    """How many stores the emitted code executes."""
    total = 0
    for stmt in body:
        inner = sum(new_stores(x) for x in bodies(stmt))
        if isinstance(stmt, For):
            lo, hi = b.int_value(stmt.lo), b.int_value(stmt.hi)
            inner *= (hi or 0) - (lo or 0)
        total += inner + isinstance(stmt, Store)
    return total
