"""Which values are the same in all threads of a level (block or warp), and which statements concern that level.

A *level* is a set of threads that meet at some operations: the threads of a block at ``Sync(BLOCK)``, the lanes of a warp at ``Sync(WARP)``
and ``warp.*``. The *frame* of a body is what is reached by descending only through control statements that contain such operations;
everything else runs to completion in one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from synth.ir.builder import int_value
from synth.ir.grammar import (
    Alloc,
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
    Var,
    While,
)
from synth.ir.traversal import all_exprs, bodies, stmt_exprs, walk, walk_expr
from synth.passes.recovery_refit import Dimension

VOTES = frozenset({"warp.all", "warp.any", "warp.ballot", "warp.activemask"})
SHUFFLES = frozenset({"warp.shfl", "warp.shfl_up", "warp.shfl_down", "warp.shfl_xor"})
WARP_OPS = VOTES | SHUFFLES


@dataclass(frozen=True, slots=True)
class Level:
    """``dims`` are the indexes of the threads that meet; ``outer`` those of enclosing levels, fixed within one meeting.

    ``scope`` is BLOCK or WARP. ``lanes`` is the number of lanes of a whole warp at the warp level (0 at the block level).
    """

    scope: Scope
    dims: tuple[Dimension, ...]
    outer: tuple[Dimension, ...] = ()
    lanes: int = 0

    def crosses(self, stmt: Stmt) -> bool:
        """Whether ``stmt`` contains a point where the threads of this level meet."""
        return any(self._meets(s) for s in walk((stmt,)))

    def _meets(self, stmt: Stmt) -> bool:
        if isinstance(stmt, Sync):
            return stmt.scope is self.scope
        return self.scope is Scope.WARP and isinstance(stmt, Call) and stmt.op in WARP_OPS


def has_warp_operation(body: Body) -> bool:
    return any((isinstance(s, Sync) and s.scope is Scope.WARP) or (isinstance(s, Call) and s.op in WARP_OPS) for s in walk(body))


def private_buffers(body: Body) -> dict[Sym, Alloc]:
    """The buffers of which each thread has its own copy, by symbol."""
    return {s.sym: s for s in walk(body) if isinstance(s, Alloc) and s.space is Space.LOCAL}


@dataclass(frozen=True, slots=True)
class Varying:
    """The result of the analysis: symbols that may differ between threads of the level."""

    syms: frozenset[Sym]

    def expr(self, expr: Expr) -> bool:
        """Whether ``expr`` may differ between the threads (evaluated by all of them at one point of the frame)."""
        return any((isinstance(e, Var) and e.sym in self.syms) or (isinstance(e, Load) and e.buf in self.syms) for e in walk_expr(expr))


# Varying values. Least set V of symbols such that
#   * the thread indexes and private arrays are in V;
#   * a Let is in V if its value reads V or if it is bound outside the frame in a statement that varies;
#   * a loop variable is in V if a bound or the step reads V;
#   * a private scalar x is in V if it is written by a value or at an index that reads V, under a condition that reads V and inside whose
#     branch x was not declared, or in a statement off the frame that varies as a whole.
# A shared or global element at a uniform index is uniform: were it written by another thread in the same phase, that would be a race.
def varying(body: Body, level: Level, known: frozenset[Sym] = frozenset()) -> Varying:
    """Symbols of ``body`` that may differ between the threads of ``level``; ``known`` are symbols bound outside it that do."""
    private = private_buffers(body)
    found = set(known) | {d.sym for d in level.dims} | {sym for sym, alloc in private.items() if alloc.shape}
    while True:
        before = len(found)
        _grow(body, level, found, private, outside=frozenset())
        if len(found) == before:
            return Varying(frozenset(found))


def _declared(body: Body) -> set[Sym]:
    return {s.sym for s in walk(body) if isinstance(s, Alloc)}


def _grow(body: Body, level: Level, found: set[Sym], private: dict[Sym, Alloc], outside: frozenset[Sym]) -> None:
    """One round; ``outside`` are private scalars declared before the innermost divergent branch."""
    now = Varying(frozenset(found))
    for stmt in body:
        match stmt:
            case Let():
                if now.expr(stmt.value):
                    found.add(stmt.sym)
            case Store() if stmt.buf in private:
                if stmt.buf in outside or any(now.expr(e) for e in stmt_exprs(stmt)):
                    found.add(stmt.buf)
            case Call() if stmt.op in WARP_OPS:
                if any(r.buf in outside for r in stmt.dests) or not call_is_uniform(stmt, now, level):
                    found.update(r.buf for r in stmt.dests)
            case Call():  # an atomic operation gives each thread a value of its own
                found.update(r.buf for r in stmt.dests if r.buf in private)
            case If() | For() | While() if level.crosses(stmt):
                divergent = any(now.expr(e) for e in stmt_exprs(stmt))
                if isinstance(stmt, For) and divergent:
                    found.add(stmt.sym)
                for inner in bodies(stmt):
                    hidden = frozenset(private) - _declared(inner) if divergent else outside
                    _grow(inner, level, found, private, outside | hidden)
            case If() | For() | While():
                if not uniform_statement(stmt, now, private) or outside & set(_effects(stmt)):
                    found.update(s for s in _effects(stmt) if s in private)
            case _:
                pass


def call_is_uniform(call: Call, now: Varying, level: Level) -> bool:
    """Whether all lanes get the same from a warp operation: votes over one mask, and broadcasts from one lane of a whole warp."""
    if level.scope is not Scope.WARP:
        return False
    if call.op == "warp.shfl":
        _, _, lane, width = call.args
        return isinstance(width, Expr) and int_value(width) == level.lanes and isinstance(lane, Expr) and not now.expr(lane)
    if call.op in VOTES:
        return all(isinstance(a, Expr) and not now.expr(a) for a in call.args[:1])
    return False


def _effects(stmt: Stmt) -> Iterator[Sym]:
    for s in walk((stmt,)):
        if isinstance(s, Store):
            yield s.buf
        elif isinstance(s, Call):
            yield from (r.buf for r in s.dests)


def uniform_statement(stmt: Stmt, now: Varying, private: dict[Sym, Alloc]) -> bool:
    """Whether a statement without meeting points does the same in every thread and touches only uniform private scalars, so that doing
    it once is the same as doing it in every thread."""
    effects = set(_effects(stmt))
    if not effects or any(s not in private or s in now.syms for s in effects):
        return False
    if any(isinstance(s, Call) for s in walk((stmt,))) or _escapes(stmt):
        return False
    return not any(now.expr(e) for e in all_exprs((stmt,)))


def _escapes(stmt: Stmt) -> bool:
    """Whether a Break, Continue or Return in ``stmt`` leaves ``stmt``."""

    def inside(body: Body, in_loop: bool) -> bool:
        for s in body:
            if isinstance(s, Break | Continue):
                if not in_loop:
                    return True
            elif isinstance(s, Return) or any(inside(inner, in_loop or isinstance(s, For | While)) for inner in bodies(s)):
                return True
        return False

    return inside((stmt,), False)
