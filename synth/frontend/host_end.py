"""What remains to be settled once host code is read: how it ends, and what of it was only needed to get there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from synth.errors import UnsupportedError
from synth.frontend import sizes
from synth.frontend.reader.arithmetic import unary
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Call, Const, Expr, If, Launch, Let, Load, Location, Return, Space, Stmt, Store, Sym, Unary
from synth.ir.traversal import all_exprs, bodies, rewrite_stmts, stmt_exprs, used_values, walk, walk_expr, with_bodies

FAILURE = "host.fail"  # a marker: this path ends the program, or the entry, without a result
RETURN = "host.return"  # a marker: the entry returns; args (the value,) or () for void


@dataclass(frozen=True, slots=True)
class Ending:
    """A body whose markers are settled, the status that the entry returns, and what is assumed not to happen."""

    body: Body
    result: Const | None
    assumes: tuple[Expr, ...]
    places: tuple[Location | None, ...]


def settle(body: Body, values: Mapping[Sym, Expr], scalars: frozenset[Sym]) -> Ending:
    """Replaces the markers: the normal status becomes the module's result, and a guard that leads to a failure (another status, ``exit``,
    ``throw``) at the outermost level becomes an assumption that its condition is false.

    Raises UnsupportedError where a failure depends on more than scalar parameters, and for an entry that returns computed data.
    """
    result = _result(body)
    assumes: list[Expr] = []
    places: list[Location | None] = []
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, If) and _fails(stmt.then, result):
            _assume(unary("lnot", stmt.cond), stmt, values, scalars, assumes)
            places.append(stmt.loc)
            out.extend(stmt.orelse)
        elif isinstance(stmt, If) and _fails(stmt.orelse, result):
            _assume(stmt.cond, stmt, values, scalars, assumes)
            places.append(stmt.loc)
            out.extend(stmt.then)
        else:
            out.append(stmt)
    settled = rewrite_stmts(tuple(out), lambda s: _unmarked(s, result))
    while settled and isinstance(settled[-1], Return):
        settled = settled[:-1]
    return Ending(settled, result, tuple(assumes), tuple(places))


def _result(body: Body) -> Const | None:
    """The status of normal completion: that of the last return at the outermost level, else of any return outside a failing guard."""
    found = [s for s in walk(body) if isinstance(s, Call) and s.op == RETURN]
    for stmt in found:
        if stmt.args and not isinstance(stmt.args[0], Const):
            raise UnsupportedError("the entry returns a computed value", stmt.loc, "return a status, and pass results through a pointer")
    outer = [s for s in body if isinstance(s, Call) and s.op == RETURN]
    for stmt in (*reversed(outer), *found):
        if stmt.args and isinstance(stmt.args[0], Const):
            return stmt.args[0]
    return None


def _fails(body: Body, result: Const | None) -> bool:
    """Whether a branch does nothing but end in failure."""
    if not body or not _is_failure(body[-1], result):
        return False
    return all(isinstance(s, Let) or _is_failure(s, result) for s in body)


def _is_failure(stmt: Stmt, result: Const | None) -> bool:
    if not isinstance(stmt, Call):
        return False
    return stmt.op == FAILURE or (stmt.op == RETURN and bool(stmt.args) and stmt.args[0] != result)


def _assume(condition: Expr, stmt: If, values: Mapping[Sym, Expr], scalars: frozenset[Sym], assumes: list[Expr]) -> None:
    whole = _negated(sizes.expanded(condition, values))
    if not sizes.over(whole, scalars):
        raise UnsupportedError(
            "the entry fails depending on more than its scalar parameters",
            stmt.loc,
            "check the data outside the entry, or return the same status",
        )
    assumes.append(whole)


_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _negated(condition: Expr) -> Expr:
    from synth.ir.grammar import Binary

    match condition:
        case Unary("lnot", Unary("lnot", a)):
            return _negated(a)
        case Unary("lnot", Binary("lor", a, b)):
            return Binary("land", _negated(unary("lnot", a)), _negated(unary("lnot", b)))
        case Unary("lnot", Binary(op, a, b)) if op in _OPPOSITE and not getattr(a.type, "is_float", True):
            return Binary(_OPPOSITE[op], a, b)
    return condition


def _unmarked(stmt: Stmt, result: Const | None) -> Stmt:
    if isinstance(stmt, Call) and stmt.op == RETURN and (not stmt.args or stmt.args[0] == result):
        return Return(stmt.loc)
    if isinstance(stmt, Call) and stmt.op in (RETURN, FAILURE):
        raise UnsupportedError("a failure in the middle of the entry's work", stmt.loc, "check the arguments at the start of the entry")
    return stmt


# --------------------------------------------------------------------------------------------------------- clean-up


def without_unused(body: Body) -> Body:
    """``body`` without host-side values that nothing uses and scalar variables that nothing reads (byte counts, pointer variables whose
    buffer is known). Kernel bodies stay as they are."""
    while True:
        used = used_values(body)
        read = {e.buf for e in all_exprs(body) if isinstance(e, Load)}
        for stmt in walk(body):
            if isinstance(stmt, Call):
                read |= {r.buf for r in (*stmt.dests, *stmt.args) if not isinstance(r, Expr)}
        scalars = {s.sym for s in _host_statements(body) if isinstance(s, Alloc) and s.shape == () and s.space is Space.LOCAL}
        dead = scalars - read
        new = _filtered(body, used, dead)
        if new == body:
            return body
        body = new


def _host_statements(body: Body) -> list[Stmt]:
    found: list[Stmt] = []
    for stmt in body:
        found.append(stmt)
        if not isinstance(stmt, Launch):
            for inner in bodies(stmt):
                found.extend(_host_statements(inner))
    return found


def _filtered(body: Body, used: set[Sym], dead: set[Sym]) -> Body:
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Let) and stmt.sym not in used:
            continue
        if isinstance(stmt, Alloc | Store) and (stmt.sym if isinstance(stmt, Alloc) else stmt.buf) in dead:
            continue
        if isinstance(stmt, Launch):
            out.append(stmt)
            continue
        inner = tuple(_filtered(b, used, dead) for b in bodies(stmt))
        new = with_bodies(stmt, inner)
        if isinstance(new, If) and not new.then and not new.orelse:
            continue
        if isinstance(new, If) and not new.then:
            new = replace(new, cond=unary("lnot", new.cond), then=new.orelse, orelse=())
        out.append(new)
    return tuple(out)


def refuse_unknown(body: Body, unknown: Mapping[Sym, str]) -> None:
    """Raises UnsupportedError where a value that exists only at run time on the host (a time, a string) decides what is computed."""
    for stmt in walk(body):
        for whole in stmt_exprs(stmt):
            for expr in walk_expr(whole):
                if isinstance(expr, Load) and expr.buf in unknown:
                    raise UnsupportedError(f"{unknown[expr.buf]} takes part in the computation", stmt.loc, "remove it from the entry")
        if isinstance(stmt, Call):
            for region in (*stmt.dests, *stmt.args):
                if not isinstance(region, Expr) and region.buf in unknown:
                    raise UnsupportedError(f"{unknown[region.buf]} is copied", stmt.loc, "remove it from the entry")


def is_status(type_: object) -> bool:
    """Whether a result type can only be a status."""
    return isinstance(type_, DType) and not type_.is_float
