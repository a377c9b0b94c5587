"""Nests of loops that can be bound together, and why others cannot."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from synth.analysis.dependence import independent_iterations
from synth.ir.builder import int_value
from synth.ir.grammar import (
    Alloc,
    Axis,
    Body,
    Call,
    For,
    If,
    Launch,
    Let,
    Load,
    Module,
    Space,
    Stmt,
    Sym,
)
from synth.ir.traversal import (
    bodies,
    path_to,
    stmt_exprs,
    walk,
    walk_expr,
    written_buffers,
)

PLAIN = (None, Axis.OMP, Axis.SIMD)  # axes of loops that may be bound, and that are ordinary loops within a thread
MAX_LOCAL = 1 << 14  # elements of an array of one thread


def candidates(module: Module) -> Iterator[For]:
    """Serial loops of the host."""

    def visit(body: Body) -> Iterator[For]:
        for stmt in body:
            if isinstance(stmt, Launch):
                continue
            if isinstance(stmt, For) and stmt.axis in PLAIN:
                yield stmt
            for inner in bodies(stmt):
                yield from visit(inner)

    yield from visit(module.body)


def nested(outer: For) -> tuple[For, ...]:
    """The loops of the nest that starts at a loop, as far as it is one that can be bound together."""
    found = [outer]
    while (inner := next_loop(found[-1].body)) is not None:
        found.append(inner[1])
    return tuple(found)


def next_loop(body: Body) -> tuple[tuple[Stmt, ...], For] | None:
    """The loop that a body ends with, perhaps under conditions, and what stands before it."""
    before: list[Stmt] = []
    while body:
        *lets, last = body
        if not all(isinstance(s, Let) for s in lets):
            return None
        before += lets
        if isinstance(last, For):
            return (tuple(before), last) if last.axis in PLAIN else None
        if not isinstance(last, If) or last.orelse:
            return None
        before.append(last)
        body = last.then
    return None


def chain_of(module: Module, syms: set[Sym]) -> tuple[For, ...] | str:
    """The loops, outermost first, if they are one nest."""
    outer = next(s for s in walk(module.body) if isinstance(s, For) and s.sym in syms)
    found = [outer]
    while len(found) < len(syms):
        inner = next_loop(found[-1].body)
        if inner is None or inner[1].sym not in syms:
            return f"the body of loop '{found[-1].sym.name}' does not end with the next loop that is bound"
        found.append(inner[1])
    return tuple(found)


def not_a_thread(module: Module, chain: tuple[For, ...]) -> str:
    """Why the body of the nest cannot be the code of a thread, or the nest cannot be launched from where it stands."""
    around = (path_to(module.body, chain[0]) or ())[:-1]
    if any(isinstance(s, Launch) or (isinstance(s, For) and s.axis is not None) for s in around):
        return f"loop '{chain[0].sym.name}' lies in a launch or in a loop that runs in parallel"
    for x in chain:
        if x.axis not in PLAIN:
            return f"loop '{x.sym.name}' is bound to {x.axis.value}"
        if (int_value(x.step) or 0) < 1:
            return f"the step of loop '{x.sym.name}' is not a literal"
    for s in walk(chain[0].body):
        if isinstance(s, Call | Launch):
            return f"the body has {s.op if isinstance(s, Call) else 'a launch'}"
        if isinstance(s, Alloc) and (s.space not in (Space.LOCAL, Space.HOST) or _too_large(s)):
            return f"'{s.sym.name}' is no array that fits a thread"
    return ""


def _too_large(s: Alloc) -> bool:
    count = 1
    for extent in s.shape:
        count *= int_value(extent) or MAX_LOCAL + 1
    return count > MAX_LOCAL


def dependent(module: Module, chain: tuple[For, ...]) -> str:
    for outer, inner in pairwise(chain):
        between = next_loop(outer.body)
        written = written_buffers(inner.body)
        for s in between[0] if between else ():
            for e in (x for root in stmt_exprs(s) for x in walk_expr(root)):
                if isinstance(e, Load) and e.buf in written:
                    return f"what stands before loop '{inner.sym.name}' reads '{e.buf.name}', which the loop writes"
    for x in chain:
        proof = independent_iterations(module, x)
        if not proof:
            return proof.reason
        if proof.reductions:
            return f"iterations of '{x.sym.name}' accumulate into '{proof.reductions[0][0].name}'"
    return ""
