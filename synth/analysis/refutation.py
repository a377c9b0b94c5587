"""Counterexamples that really happen: a point at which an access is out of bounds, found by the solver and then checked by evaluation.

The solver abstracts (products, loads, unknown quotients), so what it calls a model is a hint only. Here the hint gives values to loop
variables and parameters, and everything on the way to the statement is evaluated exactly, in machine arithmetic: bounds of loops,
conditions, definitions. What depends on memory, or lies behind a statement that may leave early, is not decided.
"""

from __future__ import annotations

from collections.abc import Mapping

from synth.analysis.access import Access
from synth.ir.builder import const
from synth.ir.dtypes import DType
from synth.ir.evaluation import meaning
from synth.ir.grammar import Binary, Body, Break, Continue, Expr, For, If, Launch, Let, Load, Module, Return, Stmt, Sym, Var, While
from synth.ir.memory import InterpreterError
from synth.ir.traversal import bodies, substitute_expr, walk, walk_expr
from synth.ir.values import UndefinedOperation


class _Undecided(Exception):
    """Something on the way cannot be evaluated, or the statement is not reached at this point."""


def happens_outside(module: Module, access: Access, shape: tuple[Expr, ...], point: Mapping[Sym, int]) -> str:
    """The index that an access has at ``point`` (values of loop variables and scalar parameters), in words, when the execution surely gets
    there and the index is outside ``shape``; else empty."""
    values = {p.sym: const(point.get(p.sym, 0), p.dtype) for p in module.params if not p.is_buffer and p.dtype.is_int}
    try:
        if not all(_evaluated(cond, values) for cond in module.assumes):
            return ""
        known = _reached(module.body, access.stmt, dict(values), point)
        if known is None or not _evaluates(access, known):
            return ""
        index = [int(_evaluated(e, known)) for e in access.index]
        extents = [int(_evaluated(e, known)) for e in shape]
    except _Undecided:
        return ""
    ends = [i + (access.count if d == len(index) - 1 else 1) for d, i in enumerate(index)]
    if access.masked or all(i >= 0 and e <= n for i, e, n in zip(index, ends, extents, strict=True)):
        return ""
    at = {s: int(v.value) for s, v in known.items() if s in point}  # type: ignore[union-attr]
    place = ", ".join(f"{s.name}={v}" for s, v in at.items())
    return f"index {', '.join(map(str, index))} of {', '.join(map(str, extents))} at {place}"


def _reached(body: Body, target: Stmt, values: dict[Sym, Expr], point: Mapping[Sym, int]) -> dict[Sym, Expr] | None:
    """The values just before ``target``; None when it is not in this body. Raises _Undecided when the point does not surely get there."""
    for stmt in body:
        if stmt is target:
            return values
        for branch, inner in enumerate(bodies(stmt)):
            if any(s is target for s in walk(inner)):
                return _reached(inner, target, _entered(stmt, branch, values, point), point)
        if isinstance(stmt, Let):
            values = {**values, stmt.sym: substitute_expr(stmt.value, values)}
        elif any(isinstance(s, Return | Break | Continue | While) for s in walk((stmt,))):
            _passes(stmt, values)
    return None


def _passes(stmt: Stmt, values: Mapping[Sym, Expr]) -> None:
    """Raises _Undecided unless control surely goes on after a statement that may leave."""
    if isinstance(stmt, If) and not any(isinstance(s, While | For) for s in walk((stmt,))):
        taken = stmt.then if _evaluated(stmt.cond, values) else stmt.orelse
        if not any(isinstance(s, Return | Break | Continue) for s in walk(taken)):
            return
    raise _Undecided


def _entered(stmt: Stmt, branch: int, values: dict[Sym, Expr], point: Mapping[Sym, int]) -> dict[Sym, Expr]:
    match stmt:
        case For():
            lo, hi, step = (int(_evaluated(e, values)) for e in (stmt.lo, stmt.hi, stmt.step))
            v = point.get(stmt.sym)
            if v is None or not lo <= v < hi or (v - lo) % step or (stmt.axis is None and any(_leaves(s) for s in stmt.body)):
                raise _Undecided
            return {**values, stmt.sym: const(v, stmt.dtype)}
        case If():
            if bool(_evaluated(stmt.cond, values)) is not (branch == 0):
                raise _Undecided
            return values
        case Launch():
            return values
        case _:
            raise _Undecided


def _leaves(stmt: Stmt) -> bool:
    """Whether an earlier iteration may end the loop."""
    return any(isinstance(s, Return | Break | While) for s in walk((stmt,)))


def _evaluates(access: Access, values: Mapping[Sym, Expr]) -> bool:
    """Whether the statement surely makes the access: it is a store, or a load that no lazy operator or mask may skip."""
    from synth.ir.grammar import Select
    from synth.ir.traversal import stmt_exprs

    if access.is_write:
        return True
    lazy = any(
        isinstance(e, Select) or (isinstance(e, Binary) and e.op in ("land", "lor")) for x in stmt_exprs(access.stmt) for e in walk_expr(x)
    )
    return not lazy


def _evaluated(expr: Expr, values: Mapping[Sym, Expr]) -> int | bool | float:
    closed = expr
    for _ in range(16):
        if not any(isinstance(e, Var) and e.sym in values for e in walk_expr(closed)):
            break
        closed = substitute_expr(closed, values)
    if any(isinstance(e, Var | Load) for e in walk_expr(closed)) or not isinstance(closed.type, DType):
        raise _Undecided
    try:
        result = meaning(closed)({})
    except (UndefinedOperation, InterpreterError) as error:
        raise _Undecided from error
    if not isinstance(result, int | float):
        raise _Undecided
    return result
