"""Leaving the middle of a body: early ``return`` of an inlined function and ``break`` inside a ``switch``.

While a body is read, leaving is a marker: ``Call("reader.escape", (), (label,))``. ``eliminate`` rewrites it away: what follows a
conditional escape moves into the other branch; where that is impossible (out of a loop, or a partial escape) a flag guards it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Body,
    Break,
    Call,
    Const,
    Continue,
    For,
    If,
    Load,
    Location,
    Return,
    Space,
    Stmt,
    Store,
    Sym,
    Unary,
    While,
)
from synth.ir.traversal import bodies, walk

ESCAPE = "reader.escape"


def escape(label: int, loc: Location | None) -> Call:
    """Leaves the body that is eliminated under ``label``."""
    return Call(ESCAPE, (), (Const(label, DType.I64),), loc)


def is_escape(stmt: Stmt, label: int | None = None) -> bool:
    return isinstance(stmt, Call) and stmt.op == ESCAPE and (label is None or stmt.args == (Const(label, DType.I64),))


def contains(body: Body, label: int) -> bool:
    return any(is_escape(s, label) for s in walk(body))


def leaves(body: Body) -> bool:
    """Whether control never reaches the end of ``body``."""
    for stmt in body:
        if isinstance(stmt, Break | Continue | Return) or is_escape(stmt):
            return True
        if isinstance(stmt, If) and leaves(stmt.then) and leaves(stmt.orelse):
            return True
    return False


@dataclass(slots=True)
class _Elimination:
    label: int
    flag: Sym
    used: bool = False

    def test(self) -> Load:
        self.used = True
        return Load(self.flag, (), DType.BOOL)

    def set(self) -> Store:
        return Store(self.flag, (), Const(True, DType.BOOL))


def eliminate(body: Body, label: int, name: str = "left") -> Body:
    """``body`` without escapes to ``label``: control then continues after the body. Escapes to other labels stay."""
    if not contains(body, label):
        return body
    state = _Elimination(label, Sym(name))
    result = _sequence(state, body, in_loop=False, flagged=False)
    if not state.used:
        return result
    return (Alloc(state.flag, DType.BOOL, (), Space.LOCAL), Store(state.flag, (), Const(False, DType.BOOL)), *result)


def _sequence(state: _Elimination, body: Body, *, in_loop: bool, flagged: bool) -> Body:
    """``flagged``: someone outside tests the flag, so an escape must set it. ``in_loop``: an escape also breaks the loop."""
    out: list[Stmt] = []
    for position, stmt in enumerate(body):
        rest = body[position + 1 :]
        if is_escape(stmt, state.label):
            if flagged or in_loop:
                out.append(state.set())
            if in_loop:
                out.append(Break())
            return tuple(out)
        if not any(contains(b, state.label) for b in bodies(stmt)):
            out.append(stmt)
            continue
        if isinstance(stmt, If):
            return (*out, *_conditional(state, stmt, rest, in_loop=in_loop, flagged=flagged))
        assert isinstance(stmt, For | While)
        inner = _sequence(state, stmt.body, in_loop=True, flagged=True)
        out.append(dataclasses.replace(stmt, body=inner))
        if in_loop:
            out.append(If(state.test(), (Break(),)))
            continue
        if rest or flagged:
            after = _sequence(state, rest, in_loop=False, flagged=flagged)
            if after:
                out.append(If(Unary("lnot", state.test()), after))
        return tuple(out)
    return tuple(out)


def _conditional(state: _Elimination, stmt: If, rest: Body, *, in_loop: bool, flagged: bool) -> Body:
    def sequence(body: Body, flag: bool = flagged) -> Body:
        return _sequence(state, body, in_loop=in_loop, flagged=flag)

    if not rest:
        return (dataclasses.replace(stmt, then=sequence(stmt.then), orelse=sequence(stmt.orelse)),)
    if leaves(stmt.then):
        return (dataclasses.replace(stmt, then=sequence(stmt.then), orelse=sequence((*stmt.orelse, *rest))),)
    if leaves(stmt.orelse):
        return (dataclasses.replace(stmt, then=sequence((*stmt.then, *rest)), orelse=sequence(stmt.orelse)),)
    branch = dataclasses.replace(stmt, then=sequence(stmt.then, True), orelse=sequence(stmt.orelse, True))
    if in_loop:
        return (branch, *sequence(rest))  # the escape itself has broken out of the loop
    after = sequence(rest)
    return (branch, If(Unary("lnot", state.test()), after)) if after else (branch,)
