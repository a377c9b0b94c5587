"""Renaming symbols throughout a module, binders included."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from synth.ir.grammar import Alloc, Expr, For, Let, Load, Module, Stmt, Sym, Var
from synth.ir.traversal import rename_buffers, rewrite_expr, rewrite_exprs, rewrite_stmts


def rename_symbols(module: Module, names: Mapping[Sym, Sym]) -> Module:
    """The module with every occurrence of a symbol in ``names``, bound or used, replaced."""

    def expr(e: Expr) -> Expr:
        if isinstance(e, Var) and e.sym in names:
            return dataclasses.replace(e, sym=names[e.sym])
        if isinstance(e, Load) and e.buf in names:
            return dataclasses.replace(e, buf=names[e.buf])
        return e

    def stmt(s: Stmt) -> Stmt:
        if isinstance(s, Let | Alloc | For) and s.sym in names:
            return dataclasses.replace(s, sym=names[s.sym])
        return s

    def all_of(exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(rewrite_expr(e, expr) for e in exprs)

    params = tuple(
        dataclasses.replace(p, sym=names.get(p.sym, p.sym), shape=None if p.shape is None else all_of(p.shape)) for p in module.params
    )
    body = rename_buffers(rewrite_stmts(rewrite_exprs(module.body, expr), stmt), {a: b for a, b in names.items() if a != b})
    return dataclasses.replace(module, params=params, body=body, assumes=all_of(module.assumes))
