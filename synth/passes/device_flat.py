"""Arrays of several dimensions as flat ones, in row-major order: what copies between memories take."""

from __future__ import annotations

import dataclasses

from synth.ir.builder import add, cast, const, int_value, mul
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Expr, Load, Module, Stmt, Store, Sym
from synth.ir.traversal import rewrite_exprs, rewrite_stmts, walk


# Element (i0, i1, ..) of an array with extents (e0, e1, ..) is element (i0 * e1 + i1) * .. of the flat one; i64 holds it.
def flattened(module: Module, arrays: set[Sym]) -> Module:
    """The module with these allocations, and all their accesses, of one dimension."""
    shapes = {s.sym: s.shape for s in walk(module.body) if isinstance(s, Alloc) and s.sym in arrays}
    if not shapes:
        return module

    def expr(e: Expr) -> Expr:
        return dataclasses.replace(e, index=(_position(e.index, shapes[e.buf]),)) if isinstance(e, Load) and e.buf in shapes else e

    def stmt(s: Stmt) -> Stmt | Body:
        if isinstance(s, Store) and s.buf in shapes:
            return dataclasses.replace(s, index=(_position(s.index, shapes[s.buf]),))
        if isinstance(s, Alloc) and s.sym in shapes:
            return dataclasses.replace(s, shape=(_product(s.shape),))
        return s

    return dataclasses.replace(module, body=rewrite_stmts(rewrite_exprs(module.body, expr), stmt))


def _position(index: tuple[Expr, ...], shape: tuple[Expr, ...]) -> Expr:
    at = cast(index[0], DType.I64)
    for i, extent in zip(index[1:], shape[1:], strict=True):
        at = add(mul(at, cast(extent, DType.I64)), cast(i, DType.I64))
    return at


def _product(shape: tuple[Expr, ...]) -> Expr:
    sizes = [int_value(e) for e in shape]
    if None not in sizes:
        count = 1
        for size in sizes:
            count *= size or 0
        return const(count, DType.I64)
    total = cast(shape[0], DType.I64)
    for extent in shape[1:]:
        total = mul(total, cast(extent, DType.I64))
    return total
