"""What remains to be settled once host code is read: how it ends, and what of it was only needed to get there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from synth.errors import UnsupportedError
from synth.frontend import sizes
from synth.frontend.reader.arithmetic import binary, convert, lane, unary
from synth.ir.builder import is_const
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Lane,
    Launch,
    Let,
    Load,
    Location,
    Return,
    Space,
    Stmt,
    Store,
    Sym,
    Unary,
    Var,
)
from synth.ir.traversal import (
    all_exprs,
    bodies,
    rewrite_exprs,
    rewrite_stmts,
    stmt_exprs,
    substitute,
    used_values,
    walk,
    walk_expr,
    with_bodies,
)

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
    guards = _Guards(result, values, scalars)
    settled = rewrite_stmts(guards.without(body, ()), lambda s: _unmarked(s, result))
    while settled and isinstance(settled[-1], Return):
        settled = settled[:-1]
    return Ending(settled, result, tuple(guards.assumes), tuple(guards.places))


@dataclass(slots=True)
class _Guards:
    """Removes failing branches; each is an assumption that the conditions on the way to it do not all hold."""

    result: Const | None
    values: Mapping[Sym, Expr]
    scalars: frozenset[Sym]
    assumes: list[Expr] = field(default_factory=list)
    places: list[Location | None] = field(default_factory=list)

    def without(self, body: Body, path: tuple[Expr, ...]) -> Body:
        out: list[Stmt] = []
        for stmt in body:
            if not isinstance(stmt, If):
                out.append(stmt)
            elif _fails(stmt.then, self.result):
                self.assume((*path, stmt.cond), stmt)
                out.extend(self.without(stmt.orelse, path))
            elif _fails(stmt.orelse, self.result):
                self.assume((*path, unary("lnot", stmt.cond)), stmt)
                out.extend(self.without(stmt.then, path))
            else:
                then = self.without(stmt.then, (*path, stmt.cond))
                orelse = self.without(stmt.orelse, (*path, unary("lnot", stmt.cond)))
                out.append(with_bodies(stmt, (then, orelse)))
        return tuple(out)

    def assume(self, path: tuple[Expr, ...], stmt: If) -> None:
        """``path`` does not hold as a whole."""
        refused = [_negated(unary("lnot", sizes.expanded(c, self.values))) for c in path]
        whole = refused[0]
        for other in refused[1:]:
            whole = binary("lor", whole, other)
        if not sizes.over(whole, self.scalars):
            raise UnsupportedError(
                "the entry fails depending on more than its scalar parameters",
                stmt.loc,
                "check the data outside the entry, or return the same status",
            )
        if not isinstance(whole, Const):
            self.assumes.append(whole)
        self.places.append(stmt.loc)


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


_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _negated(condition: Expr) -> Expr:
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


def forwarded(body: Body) -> Body:
    """``body`` with host-side scalar variables that are assigned once, beside their declaration, and names of literals read as values: what
    a loop around a launch needs to know of the pointers and sizes set before it."""
    literals: dict[Sym, Expr] = {s.sym: s.value for s in _host_statements(body) if isinstance(s, Let) and isinstance(s.value, Const)}
    if literals:
        return forwarded(rewrite_exprs(without_lets(substitute(body, literals), literals.keys()), _folded))
    singles = _assigned_once(body)
    if not singles:
        return body
    names = {buf: Sym(buf.name) for buf, store in singles.items() if not isinstance(store.value, Const | Var)}
    known: dict[Sym, Expr] = {b: Var(names[b], s.value.type) if b in names else s.value for b, s in singles.items()}

    def value(e: Expr) -> Expr:
        if isinstance(e, Load) and e.buf in known and not e.index:
            return known[e.buf]
        return _folded(e)

    def statement(s: Stmt) -> Stmt | Body:
        if isinstance(s, Alloc) and s.sym in singles:
            return ()
        if isinstance(s, Store) and s.buf in singles:
            return Let(names[s.buf], s.value, s.loc) if s.buf in names else ()
        return s

    return forwarded(rewrite_stmts(rewrite_exprs(body, value), statement))


def without_lets(body: Body, names: Set[Sym]) -> Body:
    return rewrite_stmts(body, lambda s: () if isinstance(s, Let) and s.sym in names else s)


def _assigned_once(body: Body) -> dict[Sym, Store]:
    stores: dict[Sym, list[Store]] = {}
    touched: set[Sym] = set()
    for stmt in walk(body):
        if isinstance(stmt, Store):
            stores.setdefault(stmt.buf, []).append(stmt)
        elif isinstance(stmt, Call):
            touched |= {r.buf for r in (*stmt.dests, *stmt.args) if not isinstance(r, Expr)}
    found: dict[Sym, Store] = {}
    for block in _host_bodies(body):
        declared = {s.sym for s in block if isinstance(s, Alloc) and s.shape == () and s.space is Space.LOCAL and s.init is None}
        for stmt in block:
            if not isinstance(stmt, Store) or stmt.buf not in declared or stmt.buf in touched or len(stores[stmt.buf]) != 1:
                continue
            if not any(isinstance(e, Load) for e in walk_expr(stmt.value)) and stmt.mask is None:
                found[stmt.buf] = stmt
    return found


def _host_bodies(body: Body) -> Iterator[Body]:
    yield body
    for stmt in body:
        if not isinstance(stmt, Launch):
            for inner in bodies(stmt):
                yield from _host_bodies(inner)


def _folded(e: Expr) -> Expr:
    match e:
        case Lane(a, i):
            return lane(a, i)
        case Binary("add", a, b) if not scalar(e.type).is_float and is_const(b, 0):
            return a
        case Binary("add", a, b) if not scalar(e.type).is_float and is_const(a, 0):
            return b
        case Binary(op, a, b) if isinstance(a, Const) and isinstance(b, Const):
            return binary(op, a, b)
        case Cast(a, type_) if isinstance(a, Const):
            return convert(a, type_)
    return e


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
        if isinstance(new, If) and isinstance(new.cond, Const):
            out.extend(new.then if new.cond.value else new.orelse)
            continue
        if isinstance(new, If) and not new.then and not new.orelse:
            continue
        if isinstance(new, If) and not new.then:
            new = replace(new, cond=unary("lnot", new.cond), then=new.orelse, orelse=())
        out.append(new)
    return tuple(out)


def refuse_escaping(body: Body) -> None:
    """Raises UnsupportedError where memory that is allocated in a branch or loop is used outside it: a buffer lives in its own body."""
    allocated = {s.sym: s for s in walk(body) if isinstance(s, Alloc)}
    _check_scope(body, set(), allocated)


def _check_scope(body: Body, live: set[Sym], allocated: Mapping[Sym, Alloc]) -> None:
    live = set(live)
    for stmt in body:
        used = {e.buf for whole in stmt_exprs(stmt) for e in walk_expr(whole) if isinstance(e, Load)}
        if isinstance(stmt, Store):
            used.add(stmt.buf)
        elif isinstance(stmt, Call):
            used |= {r.buf for r in (*stmt.dests, *stmt.args) if not isinstance(r, Expr)}
        for buf in used:
            if buf in allocated and buf not in live:
                message = f"'{buf.name}', allocated here in a branch or loop, is used outside the branch or loop"
                raise UnsupportedError(message, allocated[buf].loc or stmt.loc, "allocate it before")
        if isinstance(stmt, Alloc):
            live.add(stmt.sym)
        for inner in bodies(stmt):
            _check_scope(inner, live, allocated)


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
