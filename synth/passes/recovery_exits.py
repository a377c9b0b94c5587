"""Removing ``return``, ``break`` and ``continue`` by nesting what follows them, with a flag only where nesting cannot express it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from synth.ir import builder as b
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Continue,
    Expr,
    For,
    If,
    Load,
    Return,
    Space,
    Stmt,
    Store,
    Sym,
    Unary,
    While,
)
from synth.ir.traversal import bodies, with_bodies

Exit = type[Return] | type[Break] | type[Continue]

_INVERSE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def negate(cond: Expr) -> Expr:
    """The opposite condition; comparisons are inverted where that is exact (never an order of floats: NaN)."""
    if isinstance(cond, Unary) and cond.op == "lnot":
        return cond.a
    if isinstance(cond, Binary) and cond.op in _INVERSE and (cond.op in ("eq", "ne") or not scalar(cond.a.type).is_float):
        return Binary(_INVERSE[cond.op], cond.a, cond.b)
    return b.lnot(cond)


def has_exit(stmt: Stmt, kind: Exit) -> bool:
    """Whether ``stmt`` holds an exit of this kind that leaves it (a ``break`` of an inner loop does not count)."""
    if isinstance(stmt, kind):
        return True
    if kind is not Return and isinstance(stmt, For | While):
        return False
    return any(has_exit(s, kind) for inner in bodies(stmt) for s in inner)


@dataclass(slots=True)
class _Exits:
    """Work on one body: ``flag`` becomes true when the exit is taken; ``tested`` says whether anything reads it."""

    kind: Exit
    flag: Sym
    tested: bool = field(default=False)

    def body(self, stmts: Body) -> tuple[Body, str]:
        """The body without exits, and whether it ``never``, ``always`` or ``maybe`` takes one."""
        out: list[Stmt] = []
        for i, stmt in enumerate(stmts):
            if isinstance(stmt, self.kind):
                return (*out, self._taken()), "always"
            if not has_exit(stmt, self.kind):
                out.append(stmt)
                continue
            rest = stmts[i + 1 :]
            if isinstance(stmt, If):
                new, status = self._branch(stmt, rest)
            else:
                new, status = self._loop(stmt, rest)
            return (*out, *new), status
        return tuple(out), "never"

    def _taken(self) -> Stmt:
        return Store(self.flag, (), b.true())

    def _untaken(self, rest: Body) -> Body:
        if not rest:
            return ()
        self.tested = True
        return (If(b.lnot(Load(self.flag, (), DType.BOOL)), rest),)

    def _branch(self, stmt: If, rest: Body) -> tuple[Body, str]:
        then, then_status = self.body(stmt.then)
        orelse, else_status = self.body(stmt.orelse)
        after, after_status = self.body(rest)
        if then_status == else_status == "always":
            return (dataclasses.replace(stmt, then=then, orelse=orelse),), "always"
        status = "always" if after_status == "always" else "maybe"
        if then_status == "always" and else_status == "never":
            return (dataclasses.replace(stmt, then=then, orelse=orelse + after),), status
        if else_status == "always" and then_status == "never":
            return (dataclasses.replace(stmt, then=then + after, orelse=orelse),), status
        return (dataclasses.replace(stmt, then=then, orelse=orelse), *self._untaken(after)), status

    def _loop(self, stmt: Stmt, rest: Body) -> tuple[Body, str]:
        """A loop that is left by ``return``: the flag, a ``break``, and a test after the loop."""
        broken = with_bodies(stmt, tuple(self._break_out(inner) for inner in bodies(stmt)))
        after, after_status = self.body(rest)
        return (broken, *self._untaken(after)), "always" if after_status == "always" else "maybe"

    def _break_out(self, stmts: Body) -> Body:
        out: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, self.kind):
                out += [self._taken(), Break(stmt.loc)]
                break
            new = with_bodies(stmt, tuple(self._break_out(inner) for inner in bodies(stmt))) if has_exit(stmt, self.kind) else stmt
            out.append(new)
            if isinstance(stmt, For | While) and has_exit(stmt, self.kind):
                self.tested = True
                out.append(If(Load(self.flag, (), DType.BOOL), (Break(stmt.loc),)))
        return tuple(out)


def _drop_stores(stmts: Body, flag: Sym) -> Body:
    out: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, Store) and stmt.buf == flag:
            continue
        new = with_bodies(stmt, tuple(_drop_stores(inner, flag) for inner in bodies(stmt)))
        if isinstance(new, If) and isinstance(stmt, If):
            if not new.then and not new.orelse and (stmt.then or stmt.orelse):
                continue
            if not new.then and new.orelse:
                new = dataclasses.replace(new, cond=negate(new.cond), then=new.orelse, orelse=())
        out.append(new)
    return tuple(out)


def remove_exits(stmts: Body, kind: Exit, name: str, keep_flag: bool = False) -> tuple[Body, Sym | None]:
    """``stmts`` without exits of this kind, and the flag (named ``name``, declared by the caller) if the rewritten body reads it or
    ``keep_flag`` asks for it.

    A statement that is only ``if (c) {}`` disappears with its condition, which has no effects.
    """
    work = _Exits(kind, Sym(name), keep_flag)
    new, _ = work.body(stmts)
    if work.tested:
        return new, work.flag
    return _drop_stores(new, work.flag), None


def declare_flag(flag: Sym) -> Body:
    return (Alloc(flag, DType.BOOL, (), Space.LOCAL), Store(flag, (), b.const(False, DType.BOOL)))
