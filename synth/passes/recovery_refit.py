"""Rewriting integer expressions over thread indexes by tabulation.

Block sizes are concrete, so an expression whose only free variables are thread indexes has a finite table of values. Two exact rewrites
follow from the table alone, whatever the spelling (``tx / 32``, ``tx >> 5`` and ``(tx - tx % 32) / 32`` give the same result):
  * an expression that does not vary along an index loses that index;
  * an integer expression that is affine in the indexes becomes ``c0 + sum c_k * v_k``.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.ir import builder as b
from synth.ir.dtypes import DType, Type
from synth.ir.grammar import COMMUTATIVE_OPS, COMPARE_OPS, Binary, Cast, Const, Expr, Load, Select, Sym, Unary, Var
from synth.ir.traversal import map_expr_children, rewrite_expr, walk_expr

Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A thread index of concrete extent: ``sym`` is an ``i32`` value in ``[0, extent)``."""

    sym: Sym
    extent: int


def index_value(sym: Sym, type_: Type = DType.U32) -> Expr:
    """The (non-negative) loop variable ``sym`` as a value of ``type_``."""
    return b.cast(b.var(sym), type_)


# ---------------------------------------------------------------------------------------------------------- tables


def _wrap(values: NDArray[Any], type_: DType) -> Table | None:
    """Values reduced to the range of ``type_``; None where int64 cannot hold them."""
    if type_ is DType.BOOL:
        return np.asarray(values != 0, dtype=np.int64)
    if type_ is DType.U64:
        return None if (values < 0).any() else values.astype(np.int64)
    if type_ is DType.I64:
        return values.astype(np.int64)
    low = values.astype(np.int64) & ((1 << type_.bits) - 1)
    return np.asarray(np.where(low > type_.max_int, low - (1 << type_.bits), low), dtype=np.int64)


def _truncated_div(x: Table, y: Table) -> Table:
    return np.asarray(np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y)), dtype=np.int64)


def _binary(op: str, x: Table, y: Table, bits: int) -> NDArray[Any] | None:
    match op:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "mul":
            return x * y
        case "div" | "mod" if (y == 0).any():
            return None
        case "div":
            return _truncated_div(x, y)
        case "mod":
            return x - y * _truncated_div(x, y)
        case "shl" | "shr" if (y < 0).any() or (y >= bits).any():
            return None
        case "shl":
            return x << y
        case "shr":
            return x >> y
        case "min":
            return np.asarray(np.minimum(x, y))
        case "max":
            return np.asarray(np.maximum(x, y))
        case "and" | "land":
            return x & y
        case "or" | "lor":
            return x | y
        case "xor":
            return x ^ y
        case "lt":
            return np.asarray(x < y)
        case "le":
            return np.asarray(x <= y)
        case "gt":
            return np.asarray(x > y)
        case "ge":
            return np.asarray(x >= y)
        case "eq":
            return np.asarray(x == y)
        case "ne":
            return np.asarray(x != y)
        case _:
            return None


def _is_integral(type_: Type) -> bool:
    return isinstance(type_, DType) and not type_.is_float


def table(expr: Expr, dims: Sequence[Dimension]) -> Table | None:
    """The values of ``expr`` at every point of ``dims`` (one array axis a dimension), or None when it has other free variables, is not a
    scalar integer or ``bool``, is undefined at some point, or has a value that int64 cannot hold."""
    if not isinstance(expr.type, DType) or expr.type.is_float:
        return None
    shape = tuple(d.extent for d in dims)
    match expr:
        case Const():
            held = DType.I64.min_int <= int(expr.value) <= DType.I64.max_int
            return np.full(shape, int(expr.value), dtype=np.int64) if held else None
        case Var():
            for axis, dim in enumerate(dims):
                if dim.sym == expr.sym:
                    line = np.arange(dim.extent, dtype=np.int64).reshape([-1 if k == axis else 1 for k in range(len(dims))])
                    return np.broadcast_to(line, shape)
            return None
        case Unary():
            x = table(expr.a, dims)
            if x is None:
                return None
            return _wrap({"neg": -x, "bnot": ~x, "lnot": x == 0}[expr.op], expr.type)
        case Binary():
            if not _is_integral(expr.a.type):
                return None
            x, y = table(expr.a, dims), table(expr.b, dims)
            if x is None or y is None:
                return None
            bits = expr.a.type.bits if isinstance(expr.a.type, DType) else 0
            value = _binary(expr.op, x, y, bits)
            return None if value is None else _wrap(value, expr.type)
        case Cast():
            x = table(expr.a, dims)
            return None if x is None else _wrap(x, expr.type)
        case Select():
            parts = (table(expr.cond, dims), table(expr.a, dims), table(expr.b, dims))
            if parts[0] is None or parts[1] is None or parts[2] is None:
                return None
            return np.where(parts[0] != 0, parts[1], parts[2]).astype(np.int64)
        case _:
            return None


def _affine(values: Table, dims: Sequence[Dimension]) -> tuple[int, tuple[int, ...]] | None:
    """``(c0, (c_k, ...))`` with ``values[v] == c0 + sum c_k v_k`` everywhere, or None."""
    origin = (0,) * len(dims)
    c0 = int(values[origin])
    fitted = np.full(values.shape, c0, dtype=np.int64)
    coefficients: list[int] = []
    for axis, dim in enumerate(dims):
        step = tuple(1 if k == axis else 0 for k in range(len(dims)))
        c = int(values[step]) - c0 if dim.extent > 1 else 0
        coefficients.append(c)
        fitted = fitted + c * np.arange(dim.extent).reshape([-1 if k == axis else 1 for k in range(len(dims))])
    return (c0, tuple(coefficients)) if (fitted == values).all() else None


def _invariant_axes(values: Table) -> tuple[int, ...]:
    return tuple(k for k in range(values.ndim) if (values == np.take(values, [0], axis=k)).all())


def wrap_int(value: int, type_: DType) -> int:
    """``value`` modulo 2^bits in the range of ``type_``."""
    if type_ is DType.BOOL:
        return int(value != 0)
    low = value & ((1 << type_.bits) - 1)
    return low - (1 << type_.bits) if low > type_.max_int else low


def evaluate_binary(op: str, x: int, y: int, type_: DType) -> int | None:
    """A binary operation on two integers of ``type_``, before wrapping; None where it is undefined."""
    if op in ("div", "mod"):
        if y == 0:
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op == "div" else x - y * quotient
    if op in ("shl", "shr") and not 0 <= y < type_.bits:
        return None
    function = _SCALAR_OPS.get(op)
    return None if function is None else int(function(x, y))


_SCALAR_OPS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "land": operator.and_,
    "lor": operator.or_,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


# -------------------------------------------------------------------------------------------------------- rewriting


def _build_affine(c0: int, coefficients: Sequence[int], dims: Sequence[Dimension], type_: DType) -> Expr:
    terms: list[Expr] = []
    for c, dim in zip(coefficients, dims, strict=True):
        if c:
            terms.append(b.var(dim.sym) if c == 1 else b.mul(b.var(dim.sym), b.i32(c)))
    if c0 or not terms:
        terms.append(b.i32(c0))
    total = terms[0]
    for term in terms[1:]:
        total = b.add(total, term)
    return b.cast(total, type_)


def _refit_whole(expr: Expr, values: Table, dims: Sequence[Dimension]) -> Expr:
    """The simplest equal of an expression over ``dims`` alone, from its table."""
    assert isinstance(expr.type, DType)
    if int(values.min()) == int(values.max()):
        return b.const(bool(values.flat[0]) if expr.type is DType.BOOL else int(values.flat[0]), expr.type)
    if expr.type is not DType.BOOL:
        fit = _affine(values, dims)
        in_range = DType.I32.min_int <= int(values.min()) and int(values.max()) <= DType.I32.max_int
        if fit is not None and in_range:
            return _build_affine(fit[0], fit[1], dims, expr.type)
    dropped = {dims[k].sym for k in _invariant_axes(values)}

    def at_origin(e: Expr) -> Expr:
        return b.i32(0) if isinstance(e, Var) and e.sym in dropped else e

    fewer = rewrite_expr(expr, lambda e: fold(at_origin(e))) if dropped else expr
    if isinstance(fewer, Binary) and fewer.op in COMPARE_OPS:
        return _compare(fewer, dims)
    return fold(map_expr_children(fewer, lambda e: refit_expr(e, dims)))


def _compare(expr: Binary, dims: Sequence[Dimension]) -> Expr:
    """A comparison over ``dims``; in ``i32`` where both sides fit."""
    sides = [refit_expr(e, dims) for e in (expr.a, expr.b)]
    if expr.a.type != DType.BOOL:
        narrow = [as_i32(e, dims) for e in sides]
        if narrow[0] is not None and narrow[1] is not None:
            return Binary(expr.op, narrow[0], narrow[1])
    return Binary(expr.op, sides[0], sides[1])


def as_i32(expr: Expr, dims: Sequence[Dimension]) -> Expr | None:
    """``expr`` over ``dims`` as an ``i32`` of the same value, without a conversion where it has one already; None when it does not fit."""
    values = table(expr, dims)
    if values is None or int(values.min()) < DType.I32.min_int or int(values.max()) > DType.I32.max_int:
        return None
    if isinstance(expr, Cast) and expr.a.type == DType.I32:
        inner = table(expr.a, dims)
        if inner is not None and (inner == values).all():
            return expr.a
    return b.cast(expr, DType.I32)


def fold(expr: Expr) -> Expr:
    """Folds a node with literal operands or a neutral one, and drops an integer cast that another cast makes redundant."""
    if isinstance(expr, Cast) and _is_integral(expr.type):
        if expr.type == expr.a.type:
            return expr.a
        if isinstance(expr.a, Const):
            folded = b.cast(expr.a, expr.type)
            if isinstance(folded, Const):
                return folded
        if isinstance(expr.a, Cast) and _same_bits(expr.type, expr.a.type) and expr.a.a.type == expr.type:
            return expr.a.a  # there and back between equally wide integers
    if isinstance(expr, Binary) and _is_integral(expr.type) and expr.op in _NEUTRAL:
        if b.is_const(expr.b, _NEUTRAL[expr.op]):
            return expr.a
        if b.is_const(expr.a, _NEUTRAL[expr.op]) and expr.op in COMMUTATIVE_OPS:
            return expr.b
    if isinstance(expr, Unary | Binary | Select) and _is_integral(expr.type):
        values = table(expr, ())
        if values is not None:
            return b.const(bool(values) if expr.type is DType.BOOL else int(values), expr.type)  # type: ignore[arg-type]
    return expr


_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "shl": 0, "shr": 0}


def _same_bits(x: Type, y: Type) -> bool:
    return _is_integral(x) and _is_integral(y) and DType.BOOL not in (x, y) and x.bits == y.bits  # type: ignore[union-attr]


def refit_expr(expr: Expr, dims: Sequence[Dimension]) -> Expr:
    """``expr`` with each maximal subexpression over ``dims`` alone replaced by its simplest equal."""
    if isinstance(expr, Const | Var):
        return expr
    syms = {d.sym for d in dims}
    if _is_integral(expr.type) and all(not isinstance(e, Var) or e.sym in syms for e in walk_expr(expr)):
        values = table(expr, dims)
        if values is not None:
            return _refit_whole(expr, values, dims)
    return fold(_drop_casts(map_expr_children(expr, lambda e: refit_expr(e, dims)), dims))


def _drop_casts(expr: Expr, dims: Sequence[Dimension]) -> Expr:
    """``(i32)(u32)e`` is ``e`` for a non-negative ``i32`` value ``e`` over ``dims``; an index over ``dims`` needs no conversion."""
    if isinstance(expr, Load):
        return dataclasses.replace(expr, index=plain_index(expr.index, dims))
    if isinstance(expr, Cast) and isinstance(expr.a, Cast) and expr.type == expr.a.a.type == DType.I32:
        values = table(expr.a.a, dims)
        if values is not None and int(values.min()) >= 0:
            return expr.a.a
    return expr


def plain_index(index: tuple[Expr, ...], dims: Sequence[Dimension]) -> tuple[Expr, ...]:
    """Element indexes over ``dims`` as ``i32``; others unchanged."""
    return tuple(e if e.type == DType.I32 else as_i32(e, dims) or e for e in index)
