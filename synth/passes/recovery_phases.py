"""Phase splitting: a thread body becomes a tree of groups (run by every thread), scalars (run once) and uniform control around them.

Between two meeting points any interleaving of the threads is allowed, so "all threads finish this group, then all run the next" is always
one of the source's schedules: splitting anywhere in the frame is legal, and only costs the storage of private values that live across.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.errors import UnsupportedError
from synth.ir import builder as b
from synth.ir.dtypes import DType, Type
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Return,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    While,
)
from synth.ir.traversal import all_exprs, bodies, read_buffers, stmt_exprs, walk, walk_expr, written_buffers
from synth.passes.recovery_exits import negate
from synth.passes.recovery_lanes import Exchange, exchange
from synth.passes.recovery_trips import uniform_loop
from synth.passes.recovery_uniform import WARP_OPS, Level, Varying, call_is_uniform, private_buffers, uniform_statement, varying


@dataclass(slots=True, eq=False)
class Group:
    """Statements that each thread runs alone. ``guards`` are private ``Let``s, all of which must hold; ``prelude`` runs before the test."""

    stmts: list[Stmt]
    guards: tuple[Sym, ...] = ()
    prelude: list[Stmt] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Scalar:
    """A statement that is run once for all threads of the level."""

    stmt: Stmt


@dataclass(slots=True, eq=False)
class Control:
    """Uniform control: ``head`` with its bodies replaced by ``children``."""

    head: For | While | If
    children: tuple[list[Node], ...]


Node = Group | Scalar | Control


def split(body: Body, level: Level, types: Mapping[Sym, Type]) -> list[Node]:
    """The phases of a thread body; ``types`` are the element types of all buffers. Raises UnsupportedError for what has no phase
    structure."""
    lets = {s.sym: s.value for s in walk(body) if isinstance(s, Let)}
    return _Splitter(level, varying(body, level), private_buffers(body), lets, types).body(body, (), tail=True)


@dataclass(slots=True)
class _Splitter:
    level: Level
    varying: Varying
    private: dict[Sym, Alloc]
    lets: dict[Sym, Expr]
    types: Mapping[Sym, Type]

    def body(self, stmts: Body, guards: tuple[Sym, ...], tail: bool) -> list[Node]:
        work = _Phases(self, guards)
        for i, stmt in enumerate(stmts):
            last = tail and not any(self.level.crosses(s) for s in stmts[i + 1 :])
            self._statement(stmt, work, last)
        work.flush()
        return work.nodes

    def _statement(self, stmt: Stmt, work: _Phases, tail: bool) -> None:
        match stmt:
            case Return() | Break() | Continue():
                raise UnsupportedError("exit from code around a barrier", stmt.loc, "apply structurize first")
            case Sync() if stmt.scope is self.level.scope:
                work.flush()
            case Call() if stmt.op in WARP_OPS and self.level.scope is Scope.WARP:
                uniform = not work.guards and call_is_uniform(stmt, self.varying, self.level) and self._stays_uniform(stmt)
                work.exchange(exchange(stmt, self.level, uniform, bool(work.guards), self.types))
            case If() | For() | While() if self.level.crosses(stmt):
                if any(self.varying.expr(e) for e in stmt_exprs(stmt)):
                    self._divergent(stmt, work, tail)
                else:
                    work.flush()
                    inside = tail and isinstance(stmt, If)
                    work.nodes.append(Control(stmt, tuple(self.body(inner, work.guards, inside) for inner in bodies(stmt))))
            case _ if self._once(stmt):
                work.scalar(stmt)
            case _:
                work.current.append(stmt)

    def _stays_uniform(self, call: Call) -> bool:
        return all(r.buf in self.private and r.buf not in self.varying.syms for r in call.dests)

    def _once(self, stmt: Stmt) -> bool:
        """Whether doing ``stmt`` once for all threads is the same as doing it in each."""
        match stmt:
            case Let():
                return stmt.sym not in self.varying.syms
            case Alloc():
                return stmt.space is not Space.LOCAL or stmt.sym not in self.varying.syms
            case Store() if stmt.buf in self.private:
                return stmt.buf not in self.varying.syms
            case If() | For() | While():
                return uniform_statement(stmt, self.varying, self.private)
            case _:
                return False

    def _divergent(self, stmt: If | For | While, work: _Phases, tail: bool) -> None:
        """Control that differs between the threads around meeting points."""
        if isinstance(stmt, While):
            raise UnsupportedError(f"{self._what(stmt)} in a loop whose condition differs between threads", stmt.loc)
        if isinstance(stmt, For):
            for new in uniform_loop(stmt, self.level, self.varying, self.lets):
                self._restated(new, work)
            return
        if self.level.scope is Scope.BLOCK and not (tail and not (stmt.then and stmt.orelse and self._both(stmt))):
            raise UnsupportedError(
                "barrier under a condition that differs between the threads of a block",
                self._meeting(stmt).loc or stmt.loc,
                "all live threads of the block must reach the same __syncthreads()",
            )
        for inner, cond in ((stmt.then, stmt.cond), (stmt.orelse, negate(stmt.cond))):
            if inner:
                guard = Sym("active")
                work.current.append(Let(guard, cond, stmt.loc))
                self._guarded(inner, guard, work, tail)

    # A loop that was made uniform binds new symbols: what varies is computed again for it, beside what is known already.
    def _restated(self, loop: Stmt, work: _Phases) -> None:
        again = varying((loop,), self.level, self.varying.syms)
        saved, self.varying = self.varying, again
        self._statement(loop, work, tail=False)
        self.varying = saved

    # The condition is evaluated before either branch, as in the source; a thread for which it is false runs nothing of the branch. Uniform
    # code inside the branch runs once if at least one thread is active: it computes the same in all active threads.
    def _guarded(self, inner: Body, guard: Sym, work: _Phases, tail: bool) -> None:
        work.flush()
        children = self.body(inner, (*work.guards, guard), tail)
        if not _speculative(children):
            work.nodes.extend(children)
            return
        some = Sym("any_active")
        work.nodes.append(Scalar(Alloc(some, DType.BOOL, (), Space.LOCAL)))
        work.nodes.append(Scalar(Store(some, (), b.const(False, DType.BOOL))))
        work.nodes.append(Group([Store(some, (), b.true())], (*work.guards, guard)))
        work.nodes.append(Control(If(Load(some, (), DType.BOOL), ()), (children, [])))

    def _both(self, stmt: If) -> bool:
        return all(any(self.level.crosses(s) for s in inner) for inner in bodies(stmt))

    def _meeting(self, stmt: Stmt) -> Stmt:
        return next(s for s in walk((stmt,)) if isinstance(s, Sync | Call) and self.level.crosses(s))

    def _what(self, stmt: Stmt) -> str:
        found = self._meeting(stmt)
        return found.op if isinstance(found, Call) else "barrier"


def _may_fault(expr: Expr) -> bool:
    return any(isinstance(e, Load) or (isinstance(e, Binary) and e.op in ("div", "mod")) for e in walk_expr(expr))


def _speculative(nodes: list[Node]) -> bool:
    """Whether code that is run once may fault, loop forever or do needless work where no thread is active."""
    for node in nodes:
        if isinstance(node, Control):
            if isinstance(node.head, While) or any(_may_fault(e) for e in stmt_exprs(node.head)):
                return True
            if any(_speculative(inner) for inner in node.children):
                return True
        elif isinstance(node, Scalar) and (isinstance(node.stmt, While) or any(_may_fault(e) for e in all_exprs((node.stmt,)))):
            return True
    return False


@dataclass(slots=True)
class _Phases:
    """The nodes of one frame body under construction."""

    owner: _Splitter
    guards: tuple[Sym, ...]
    nodes: list[Node] = field(default_factory=list)
    current: list[Stmt] = field(default_factory=list)

    def flush(self) -> None:
        if self.current:
            self.nodes.append(Group(self.current, self.guards))
            self.current = []

    # A scalar statement may stand before the open group when neither reads what the other writes; otherwise the group ends here.
    def scalar(self, stmt: Stmt) -> None:
        group = tuple(self.current)
        reads, writes = read_buffers((stmt,)), written_buffers((stmt,))
        if written_buffers(group) & (reads | writes) or read_buffers(group) & writes:
            self.flush()
        self.nodes.append(Scalar(stmt))

    def exchange(self, found: Exchange) -> None:
        """A cross-lane operation: publish in the open group, meet, then read in the next."""
        self.nodes.extend(Scalar(s) for s in found.storage)
        self.current.extend(found.publish)
        self.flush()
        self.nodes.extend(Scalar(s) for s in found.once)
        self.current.extend(found.receive)


def replace_bodies(head: For | While | If, new: tuple[Body, ...]) -> Stmt:
    """``head`` around new bodies."""
    if isinstance(head, If):
        return dataclasses.replace(head, then=new[0], orelse=new[1])
    return dataclasses.replace(head, body=new[0])
