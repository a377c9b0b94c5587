"""From the tree of phases back to statements: thread loops around each group, one loop over the warps around code with warp operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.ir import builder as b
from synth.ir.dtypes import DType, Type
from synth.ir.grammar import Alloc, Binary, Body, Expr, For, If, Scope, Stmt, Sym, Var
from synth.ir.traversal import (
    rewrite_expr,
    rewrite_exprs,
    substitute,
    walk,
)
from synth.passes.recovery_expand import expand
from synth.passes.recovery_linear import Forms
from synth.passes.recovery_phases import Group, Node, Scalar, replace_bodies, split
from synth.passes.recovery_refit import Dimension, fold
from synth.passes.recovery_tighten import inline_indexes
from synth.passes.recovery_uniform import Level, has_warp_operation


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the steps need to know: ``warp_size`` of the source's device; ``blocks``: the block indexes and their largest values."""

    warp_size: int
    blocks: tuple[tuple[Sym, int], ...] = ()

    def forms(self) -> Forms:
        known = Forms()
        for sym, high in self.blocks:
            known.add(sym, DType.I32, 0, high)
        return known


def buffer_types(body: Body) -> dict[Sym, Type]:
    return {s.sym: s.dtype for s in walk(body) if isinstance(s, Alloc)}


def sequential(body: Body, level: Level, types: Mapping[Sym, Type], recovery: Recovery) -> Body:
    """``body``, which all threads of ``level`` run, as serial code."""
    body = inline_indexes(body, (*level.outer, *level.dims), recovery.forms())
    nodes = split(body, level, types)
    expand(nodes, level)
    return _emit(nodes, level, types, recovery)


def _emit(nodes: list[Node], level: Level, types: Mapping[Sym, Type], recovery: Recovery) -> Body:
    out: list[Stmt] = []
    for node in nodes:
        if isinstance(node, Scalar):
            out.append(node.stmt)
        elif isinstance(node, Group):
            out += _emit_group(node, level, types, recovery)
        else:
            out.append(replace_bodies(node.head, tuple(_emit(inner, level, types, recovery) for inner in node.children)))
    return tuple(out)


def _emit_group(group: Group, level: Level, types: Mapping[Sym, Type], recovery: Recovery) -> Body:
    body = tuple(group.stmts)
    for guard in reversed(group.guards):
        body = (If(Var(guard, DType.BOOL), body),)
    body = (*group.prelude, *body)
    if level.scope is Scope.BLOCK and has_warp_operation(body):
        return _warps(body, level, {**types, **buffer_types(body)}, recovery)
    body = inline_indexes(body, (*level.outer, *level.dims), recovery.forms())
    for dim in reversed(level.dims):
        body = loop_over(dim, body)
    return body


# ------------------------------------------------------------------------------------------------------------- warps


# Threads are numbered x first, then y, then z; warp w holds the threads [w W, (w+1) W) and a thread's lane is its number modulo W (CUDA C++
# Programming Guide, "SIMT Architecture"). Warps of a block do not meet inside ``body`` (no Sync(BLOCK)), so running them one after another
# is one of the source's schedules.
def _warps(body: Body, level: Level, types: Mapping[Sym, Type], recovery: Recovery) -> Body:
    size = recovery.warp_size
    lane = Dimension(Sym("lane"), min(size, _product(d.extent for d in level.dims)))
    x = level.dims[-1] if level.dims else None
    if x is None:
        return sequential(body, Level(Scope.WARP, (), (), size), types, recovery)
    if x.extent % size == 0:
        outer, values = _rows_of_warps(level, x, size, lane)
    elif len(level.dims) == 1 and x.extent < size:
        outer, values = (), {x.sym: b.var(lane.sym)}
    else:
        outer, values, limit = _packed(level, size, lane)
        if limit is not None:
            body = (If(limit, body),)
    lane_level = Level(Scope.WARP, (lane,), outer, size)
    out = sequential(substitute(body, values), lane_level, types, recovery)
    for dim in reversed(outer):
        out = loop_over(dim, out)
    return out


def _product(values: object) -> int:
    total = 1
    for value in values:  # type: ignore[attr-defined]
        total *= value
    return total


def _rows_of_warps(level: Level, x: Dimension, size: int, lane: Dimension) -> tuple[tuple[Dimension, ...], dict[Sym, Expr]]:
    """Whole warps along x; the other dimensions are loops around them."""
    count = x.extent // size
    if count == 1:
        return level.dims[:-1], {x.sym: b.var(lane.sym)}
    warp = Dimension(Sym("warp"), count)
    return (*level.dims[:-1], warp), {x.sym: b.add(b.mul(b.var(warp.sym), b.i32(size)), b.var(lane.sym))}


def _packed(level: Level, size: int, lane: Dimension) -> tuple[tuple[Dimension, ...], dict[Sym, Expr], Expr | None]:
    """Warps that straddle rows of threads: every index from the thread's number; a condition when the last warp is not full."""
    threads = _product(d.extent for d in level.dims)
    count = -(-threads // size)
    number: Expr = b.var(lane.sym)
    outer: tuple[Dimension, ...] = ()
    if count > 1:
        warp = Dimension(Sym("warp"), count)
        outer = (warp,)
        number = b.add(b.mul(b.var(warp.sym), b.i32(size)), number)
    limit = b.lt(number, b.i32(threads)) if count > 1 and threads % size else None
    values: dict[Sym, Expr] = {}
    rest = number
    for dim in reversed(level.dims):
        values[dim.sym] = rest if dim is level.dims[0] else Binary("mod", rest, b.i32(dim.extent))
        rest = Binary("div", rest, b.i32(dim.extent))
    return outer, values, limit


# ------------------------------------------------------------------------------------------------------- thread loops


def loop_over(dim: Dimension, body: Body) -> Body:
    """A serial loop over ``dim``."""
    sym = dim.sym.fresh()
    return (For(sym, DType.I32, b.i32(0), b.i32(dim.extent), b.i32(1), substitute(body, {dim.sym: b.var(sym)})),) if body else ()


def folded(body: Body) -> Body:
    """Literal arithmetic folded everywhere."""
    return rewrite_exprs(body, lambda e: fold(rewrite_expr(e, fold)))
