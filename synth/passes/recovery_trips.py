"""Loops whose range differs between threads although threads meet inside them, as loops that all threads enter together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from synth.errors import UnsupportedError
from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Body, Cast, Const, Expr, For, If, Let, Sym, Var
from synth.ir.traversal import substitute_expr
from synth.passes.recovery_refit import fold, refit_expr, table
from synth.passes.recovery_uniform import Level, Varying


def _inlined(expr: Expr, lets: Mapping[Sym, Expr]) -> Expr:
    while True:
        new = substitute_expr(expr, lets)
        if new == expr:
            return expr
        expr = new


def _same_trips(loop: For, level: Level, lets: Mapping[Sym, Expr]) -> int | None:
    """The number of iterations where it is one number for all threads."""
    dims = (*level.outer, *level.dims)
    lo, hi, step = (table(_inlined(e, lets), dims) for e in (loop.lo, loop.hi, loop.step))
    if lo is None or hi is None or step is None or (step <= 0).any():
        return None
    trips = np.maximum(0, -((lo - hi) // step))
    return int(trips.flat[0]) if (trips == trips.flat[0]).all() else None


def _offset(expr: Expr, level: Level, varying: Varying) -> tuple[Expr, Expr] | None:
    """``expr`` as ``uniform + own`` with ``own >= 0`` an expression over the thread indexes; None when it has no such form.

    Conversions between equally wide or to narrower integers commute with addition modulo 2^n, and so do conversions of signed sums to wider
    types, because signed overflow is undefined in the source.
    """
    if not varying.expr(expr):
        return expr, Const(0, expr.type) if isinstance(expr.type, DType) else expr
    values = table(expr, (*level.outer, *level.dims))
    if values is not None and int(values.min()) >= 0 and isinstance(expr.type, DType):
        return Const(0, expr.type), expr
    match expr:
        case Binary("add", x, y):
            parts = _offset(x, level, varying), _offset(y, level, varying)
            if parts[0] is None or parts[1] is None:
                return None
            return fold(b.add(parts[0][0], parts[1][0])), fold(b.add(parts[0][1], parts[1][1]))
        case Cast(x, DType() as to) if isinstance(x.type, DType) and x.type.is_int and to.is_int:
            if to.bits > x.type.bits and not x.type.is_signed_int:
                return None
            inner = _offset(x, level, varying)
            return None if inner is None else (b.cast(inner[0], to), b.cast(inner[1], to))
        case _:
            return None


# Precondition of both forms: the step is the same for all threads and positive, and the body meets only at operations of this level.
#   same trips K:  thread t runs i = lo(t) + k step for k in [0, K): all threads run k together.
#   lo = u + own:  thread t runs i = u + own + k step while i < hi. With b = u + k step, i < hi is b < hi - own, and since own >= 0 no
#   thread
#                  runs an iteration in which b >= hi: all threads run b together and test b < hi - own. (hi > b holds inside, so hi - own
#                  does not wrap for signed types when b >= 0; for unsigned ones own < hi is tested first.)
def uniform_loop(loop: For, level: Level, varying: Varying, lets: Mapping[Sym, Expr]) -> Body:
    """Statements equivalent to ``loop``, whose loop is uniform. Raises UnsupportedError when neither form applies."""
    trips = _same_trips(loop, level, lets)
    dims = (*level.outer, *level.dims)
    counter = loop.sym.fresh(f"{loop.sym.name}.step")
    if trips is not None:
        k = Var(counter, loop.dtype)
        value = refit_expr(b.add(_inlined(loop.lo, lets), b.mul(k, loop.step)), dims)
        body = (Let(loop.sym, value, loop.loc), *loop.body)
        return (For(counter, loop.dtype, b.const(0, loop.dtype), b.const(trips, loop.dtype), b.const(1, loop.dtype), body, loc=loop.loc),)
    parts = None if varying.expr(loop.hi) or varying.expr(loop.step) else _offset(_inlined(loop.lo, lets), level, varying)
    if parts is None:
        raise UnsupportedError(
            "threads of a block or warp meet in a loop whose range differs between them", loop.loc, "give all threads the same trip count"
        )
    base, own = parts
    own = refit_expr(own, dims)
    at = Var(counter, loop.dtype)
    inside: Expr = Binary("lt", at, Binary("sub", loop.hi, own))
    if loop.dtype.is_unsigned_int:
        inside = b.land(Binary("lt", own, loop.hi), inside)
    guarded = If(inside, (Let(loop.sym, b.add(at, own), loop.loc), *loop.body), loc=loop.loc)
    return (For(counter, loop.dtype, base, loop.hi, loop.step, (guarded,), loc=loop.loc),)
