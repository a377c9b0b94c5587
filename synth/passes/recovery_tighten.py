"""Narrowing constant loops to the iterations that have an effect, as conditions on the loop variables say.

``for tx<256 { if (tx < 4) s[tx] = ...; }`` becomes ``for tx<4 { s[tx] = ...; }``; a loop of one iteration disappears.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Return,
    Stmt,
    Store,
    Sym,
    Var,
    While,
)
from synth.ir.traversal import bodies, map_stmt_exprs, substitute, substitute_expr, walk, walk_expr, with_bodies
from synth.passes.recovery_exits import has_exit
from synth.passes.recovery_linear import Forms, linear, straighten, straighten_index
from synth.passes.recovery_refit import Dimension, plain_index, refit_expr, table

_INLINE_NODES = 12
_MAX_POINTS = 1 << 16


def inline_indexes(body: Body, dims: tuple[Dimension, ...], forms: Forms) -> Body:
    """Straightens and refits expressions over ``dims`` and the indexes of ``forms``, puts the values of Lets that depend on ``dims`` alone
    (or are
    mere copies) where they are used, and resolves constant conditions."""
    for dim in dims:
        forms.add(dim.sym, DType.I32, 0, dim.extent - 1)
    return _inline(body, dims, {}, forms)


def _inline(body: Body, dims: tuple[Dimension, ...], values: dict[Sym, Expr], forms: Forms) -> Body:
    out: list[Stmt] = []

    def expr(e: Expr) -> Expr:
        return refit_expr(straighten(substitute_expr(e, values), forms), dims)

    for stmt in body:
        if isinstance(stmt, For):
            _bound_loop(stmt, forms)
        new = map_stmt_exprs(stmt, expr)
        if isinstance(new, Store):
            new = dataclasses.replace(new, index=plain_index(straighten_index(new.index, forms), dims))
        if isinstance(new, Let):
            if _transparent(new.value, dims):
                values[new.sym] = new.value
                continue
            form = linear(new.value, forms)
            if form is not None:
                forms.lets[new.sym] = form
        if isinstance(new, If) and isinstance(new.cond, Const):
            out += _inline(new.then if new.cond.value else new.orelse, dims, values, forms)
            continue
        if isinstance(new, While) and isinstance(new.cond, Const) and not new.cond.value:
            continue
        out.append(with_bodies(new, tuple(_inline(inner, dims, values, forms) for inner in bodies(new))))
    return tuple(out)


def _bound_loop(loop: For, forms: Forms) -> None:
    """The range of a loop variable, where its bounds are linear in bounded indexes."""
    lo, hi = linear(loop.lo, forms), linear(loop.hi, forms)
    if lo is not None and hi is not None and loop.sym not in forms.bounds:
        low, high = forms.range(lo)[0], forms.range(hi)[1] - 1
        if low <= high:
            forms.add(loop.sym, loop.dtype, low, high)


def _transparent(value: Expr, dims: tuple[Dimension, ...]) -> bool:
    if isinstance(value, Var | Const):
        return True
    return sum(1 for _ in walk_expr(value)) <= _INLINE_NODES and table(value, dims) is not None


# ------------------------------------------------------------------------------------------------------ effect spans


def _span(cond: Expr, dim: Dimension, inner: tuple[Dimension, ...]) -> tuple[int, int] | None:
    """The hull of the values of ``dim`` for which ``cond`` holds at some point of ``inner``; None when it says nothing about them alone."""
    used = {e.sym for e in walk_expr(cond) if isinstance(e, Var)}
    if dim.sym not in used:
        return None
    dims = (dim, *(d for d in inner if d.sym in used))
    points = 1
    for d in dims:
        points *= d.extent
    values = table(cond, dims) if points <= _MAX_POINTS else None
    if values is None:
        return None
    holds = np.flatnonzero(values.reshape(dim.extent, -1).any(axis=1))
    return (int(holds[0]), int(holds[-1]) + 1) if len(holds) else (0, 0)


def _effect_span(body: Body, dim: Dimension, inner: tuple[Dimension, ...], own: set[Sym]) -> tuple[int, int]:
    """A range of ``dim`` outside of which ``body`` changes nothing but ``own`` buffers (those allocated inside)."""
    lo, hi = dim.extent, 0
    for stmt in body:
        span = _statement_span(stmt, dim, inner, own)
        if span[0] < span[1]:
            lo, hi = min(lo, span[0]), max(hi, span[1])
    return (lo, hi) if lo < hi else (0, 0)


def _statement_span(stmt: Stmt, dim: Dimension, inner: tuple[Dimension, ...], own: set[Sym]) -> tuple[int, int]:
    whole = (0, dim.extent)
    match stmt:
        case Store():
            return (0, 0) if stmt.buf in own else whole
        case Let() | Alloc():
            return (0, 0)
        case If():
            then = _effect_span(stmt.then, dim, inner, own)
            for part in conjuncts(stmt.cond):
                span = _span(part, dim, inner)
                then = then if span is None else (max(then[0], span[0]), min(then[1], span[1]))
            orelse = _effect_span(stmt.orelse, dim, inner, own)
            spans = [s for s in (then, orelse) if s[0] < s[1]]
            return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0, 0)
        case For():
            lo, hi = b.int_value(stmt.lo), b.int_value(stmt.hi)
            counted = lo == 0 and hi is not None and hi > 0 and stmt.dtype is DType.I32
            more = (*inner, Dimension(stmt.sym, hi)) if counted and hi is not None else inner
            return _effect_span(stmt.body, dim, more, own)
        case While():
            # a loop that might not end has an effect of its own
            return whole if not _ends(stmt) else _effect_span(stmt.body, dim, inner, own)
        case _:
            return whole


def _ends(loop: While) -> bool:
    """Whether we may assume that the loop ends. C++ (intro.progress) lets an implementation assume it of loops without I/O or
    synchronisation whose condition is not a constant; all loops here are such."""
    return not isinstance(loop.cond, Const)


# ---------------------------------------------------------------------------------------------------------- rewriting


def conjuncts(cond: Expr) -> list[Expr]:
    """The operands of a chain of ``&&``, in order."""
    if isinstance(cond, Binary) and cond.op == "land":
        return [*conjuncts(cond.a), *conjuncts(cond.b)]
    return [cond]


def conjunction(parts: list[Expr]) -> Expr:
    """The inverse of ``conjuncts``, for a non-empty list."""
    whole = parts[0]
    for part in parts[1:]:
        whole = b.land(whole, part)
    return whole


def tighten(body: Body) -> Body:
    """Narrows every serial loop with literal bounds in ``body``, innermost first, and once more after each narrowing."""
    out: list[Stmt] = []
    for stmt in body:
        stmt = with_bodies(stmt, tuple(tighten(inner) for inner in bodies(stmt)))
        if isinstance(stmt, For) and stmt.axis is None and stmt.dtype is DType.I32:
            out += _tighten_loop(stmt)
        else:
            out.append(stmt)
    return tuple(out)


# A loop over i in [lo, hi) with unit step keeps its meaning when iterations without effects are dropped: iterations outside the hull of
# those in which a statement that writes a buffer from outside the body may run. A condition around the whole body that does not depend on
# i, cannot fault and reads no memory has the same value in all iterations, so it may be tested once.
def _tighten_loop(loop: For) -> Body:
    outside: list[Expr] = []
    if len(loop.body) == 1 and isinstance(loop.body[0], If) and not loop.body[0].orelse:
        only = loop.body[0]
        parts = conjuncts(only.cond)
        outside = [p for p in parts if _invariant(p, loop.sym)]
        inside = [p for p in parts if not _invariant(p, loop.sym)]
        if outside:
            loop = dataclasses.replace(loop, body=(dataclasses.replace(only, cond=conjunction(inside)),) if inside else only.then)
    result = _narrow(loop)
    return (If(conjunction(outside), result),) if outside and result else result


def _narrow(loop: For) -> Body:
    lo, hi = b.int_value(loop.lo), b.int_value(loop.hi)
    if lo is None or hi is None or b.int_value(loop.step) != 1 or lo < 0:
        return (loop,)
    if any(has_exit(s, kind) for s in loop.body for kind in (Break, Continue, Return)) or any(isinstance(s, Call) for s in walk(loop.body)):
        return (loop,)
    own = {s.sym for s in walk(loop.body) if isinstance(s, Alloc)}
    span = _effect_span(loop.body, Dimension(loop.sym, hi), (), own) if hi > lo else (0, 0)
    low, high = max(lo, span[0]), min(hi, span[1])
    if high <= low:
        return ()
    if high == low + 1:
        return tighten(inline_indexes(substitute(loop.body, {loop.sym: b.i32(low)}), (), Forms()))
    body = loop.body
    if len(body) == 1 and isinstance(body[0], If) and not body[0].orelse:
        kept = [p for p in conjuncts(body[0].cond) if not _holds(p, Dimension(loop.sym, high), low)]
        body = (dataclasses.replace(body[0], cond=conjunction(kept)),) if kept else body[0].then
    return (dataclasses.replace(loop, lo=b.i32(low), hi=b.i32(high), body=body),)


def _holds(cond: Expr, dim: Dimension, low: int) -> bool:
    values = table(cond, (dim,))
    return values is not None and bool(values[low:].all())


def _invariant(part: Expr, sym: Sym) -> bool:
    nodes = list(walk_expr(part))
    if any(isinstance(e, Load) or (isinstance(e, Binary) and e.op in ("div", "mod")) for e in nodes):
        return False
    return not any(isinstance(e, Var) and e.sym == sym for e in nodes)
