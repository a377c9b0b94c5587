"""Host variables whose present value is plain from the straight-line code before: block sizes, byte counts, pointers into buffers."""

from __future__ import annotations

from collections.abc import Sequence

from synth.frontend.reader.arithmetic import binary, convert, lane
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import Vec
from synth.ir.grammar import Binary, Call, Cast, Const, Expr, For, If, Lane, Let, Load, Stmt, Store, Sym, Var, While
from synth.ir.traversal import rewrite_expr, walk, walk_expr


def resolved(reader: Reader, expr: Expr) -> Expr:
    """``expr`` with such variables replaced by their values, and literals folded."""
    return _resolve(reader, expr, reader.out, len(reader.out), 0)


def _resolve(reader: Reader, expr: Expr, before: Sequence[Stmt], end: int, depth: int) -> Expr:
    if depth > 32:
        return expr

    def one(e: Expr) -> Expr:
        match e:
            case Load(buf, (), type_) if e.mask is None:
                found = _last_store(buf, before, end)
                if found is None:
                    return e
                position, value = found
                known = _resolve(reader, value, before, position, depth + 1)
                return known if all(not isinstance(x, Load) for x in walk_expr(known)) else e
            case Lane(a, i):
                return lane(a, i)
            case Var(sym, Vec()) if sym in reader.values:
                bound = next((n for n in range(end) if isinstance(before[n], Let) and before[n].sym == sym), None)  # type: ignore[union-attr]
                known = reader.values[sym] if bound is None else _resolve(reader, reader.values[sym], before, bound, depth + 1)
                return known if all(not isinstance(x, Load) for x in walk_expr(known)) else e
            case Binary(op, a, b) if isinstance(a, Const) and isinstance(b, Const):
                return binary(op, a, b)
            case Cast(a, type_) if isinstance(a, Const):
                return convert(a, type_)
        return e

    return rewrite_expr(expr, one)


def _last_store(buf: Sym, before: Sequence[Stmt], end: int) -> tuple[int, Expr] | None:
    """The last assignment to a scalar variable before position ``end``; None where control flow or something else may have set it."""
    for position in range(end - 1, -1, -1):
        stmt = before[position]
        if isinstance(stmt, Store) and stmt.buf == buf:
            return position, stmt.value
        if isinstance(stmt, Call) and any(r.buf == buf for r in stmt.dests):
            return None
        if isinstance(stmt, For | While | If) and any(isinstance(s, Store) and s.buf == buf for s in walk((stmt,))):
            return None
    return None
