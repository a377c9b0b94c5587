"""Who reads and writes what, where, under which conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from synth.analysis.linear import Env, following, step_into
from synth.ir.builder import is_const
from synth.ir.dtypes import lanes
from synth.ir.grammar import Binary, Body, Broadcast, Call, Expr, Load, MakeVec, Region, Select, Stmt, Store, Sym, Var
from synth.ir.traversal import bodies, expr_children, region_exprs


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write of ``count`` contiguous elements from ``index`` on. ``env`` is what holds when it happens, enclosing loops
    included.

    ``region`` is set for the operand of a ``Call``, whose extent is what the call touches. ``active`` is the number of leading lanes that a
    mask leaves active, where the mask says ``lane < active``; ``masked``: there is a mask.
    """

    buf: Sym
    index: tuple[Expr, ...]
    is_write: bool
    count: int
    env: Env
    stmt: Stmt
    region: Region | None = None
    active: Expr | None = None
    masked: bool = False


def accesses(body: Body, env: Env) -> Iterator[Access]:
    """All accesses of a body in program order; ``env`` holds at its start."""
    for stmt in body:
        yield from _of_stmt(stmt, env)
        for branch, inner in enumerate(bodies(stmt)):
            yield from accesses(inner, step_into(env, stmt, branch))
        env = following(env, stmt)


def _of_stmt(stmt: Stmt, env: Env) -> Iterator[Access]:
    match stmt:
        case Store():
            for e in (*stmt.index, stmt.value, *((stmt.mask,) if stmt.mask is not None else ())):
                yield from _reads(e, env, stmt)
            count = lanes(stmt.value.type) if stmt.index else 1
            yield Access(stmt.buf, stmt.index, True, count, env, stmt, None, leading_lanes(stmt.mask, env), stmt.mask is not None)
        case Call():
            for arg in stmt.args:
                if isinstance(arg, Region):
                    yield Access(arg.buf, arg.index, False, 1, env, stmt, arg)
                for e in region_exprs(arg) if isinstance(arg, Region) else (arg,):
                    yield from _reads(e, env, stmt)
            for dest in stmt.dests:
                for e in region_exprs(dest):
                    yield from _reads(e, env, stmt)
                yield Access(dest.buf, dest.index, True, 1, env, stmt, dest)
        case _:
            from synth.ir.traversal import stmt_exprs

            for e in stmt_exprs(stmt):
                yield from _reads(e, env, stmt)


def _reads(expr: Expr, env: Env, stmt: Stmt) -> Iterator[Access]:
    """Loads in an expression; the sides of lazy operators happen only under their conditions."""
    match expr:
        case Load():
            for e in expr_children(expr):
                yield from _reads(e, env, stmt)
            count = lanes(expr.type) if expr.index else 1
            yield Access(expr.buf, expr.index, False, count, env, stmt, None, leading_lanes(expr.mask, env), expr.mask is not None)
        case Select() if lanes(expr.cond.type) == 1:
            yield from _reads(expr.cond, env, stmt)
            yield from _reads(expr.a, env.with_fact(expr.cond), stmt)
            yield from _reads(expr.b, env.with_fact(expr.cond, False), stmt)
        case Binary(op="land" | "lor"):
            yield from _reads(expr.a, env, stmt)
            yield from _reads(expr.b, env.with_fact(expr.a, expr.op == "land"), stmt)
        case _:
            for e in expr_children(expr):
                yield from _reads(e, env, stmt)


def leading_lanes(mask: Expr | None, env: Env) -> Expr | None:
    """``k`` when a mask, or a part of a conjunction of masks, says ``lane number < k``."""
    match mask:
        case Var(sym=sym) if sym in env.lets:
            return leading_lanes(env.lets[sym], env)
        case Binary(op="and"):
            return leading_lanes(mask.a, env) or leading_lanes(mask.b, env)
        case Binary(op="lt", a=MakeVec(elems=elems), b=Broadcast(a=k)) if all(is_const(e, i) for i, e in enumerate(elems)):
            return k
        case _:
            return None
