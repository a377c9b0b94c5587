"""Is a buffer written before it is read? Definite assignment (as in the Java Language Specification, chapter 16) of mutable scalars and of
intervals of arrays, by the structure of the program.

What is known of a buffer is a set of intervals ``lo <= e < hi`` of which all elements (in row-major order) have surely been written; one
whose ``hi`` is not above its ``lo`` is empty. A scalar has one element. Everything else counts as not written, so an answer ``exposed``
means only that it is not excluded.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.linear import Env, env_at, module_env, step_into
from synth.analysis.polynomial import Poly, atom_poly, const_poly
from synth.ir.builder import int_value
from synth.ir.dtypes import lanes
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
    Module,
    Param,
    Region,
    Return,
    Stmt,
    Store,
    Sym,
    Var,
    While,
)
from synth.ir.traversal import bodies, bound_symbols, expr_children, path_to, read_buffers, stmt_exprs, walk, walk_expr, written_buffers

Interval = tuple[Poly, Poly]
Intervals = tuple[Interval, ...]
MAX_INTERVALS = 64


@dataclass(frozen=True, slots=True)
class Assigned:
    """After a piece of code: ``exposed`` when it may have read an element that was not surely written; ``written`` what surely is at its
    end, None where its end is not reached."""

    exposed: bool
    written: Intervals | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The question about one buffer of a certain shape (of the rank that its accesses have)."""

    buf: Sym
    shape: tuple[Expr, ...]

    def body(self, body: Body, env: Env, before: Intervals = ()) -> Assigned:
        """What a body does, when ``before`` is written at its start and ``env`` holds there."""
        exposed, now = False, before
        for stmt in body:
            if self._touched(stmt):
                done = self._stmt(stmt, env, now)
                exposed = exposed or done.exposed
                if done.written is None:
                    return Assigned(exposed, None)
                now = done.written
            elif isinstance(stmt, Return | Break | Continue):
                return Assigned(exposed, None)
            if isinstance(stmt, Let):
                env = env.with_let(stmt)
        return Assigned(exposed, now)

    def _touched(self, stmt: Stmt) -> bool:
        return self.buf in read_buffers((stmt,)) or self.buf in written_buffers((stmt,))

    # ----------------------------------------------------------------------------------------------------- statements

    def _stmt(self, stmt: Stmt, env: Env, before: Intervals) -> Assigned:
        exposed = any(self._reads_open(e, env, before) for e in stmt_exprs(stmt))
        if isinstance(stmt, Call):
            exposed = exposed or any(isinstance(a, Region) and a.buf == self.buf for a in stmt.args)
        match stmt:
            case Store() if stmt.buf == self.buf and stmt.mask is None:
                at = self._position(stmt.index, env)
                own = (at, at + const_poly(lanes(stmt.value.type) if stmt.index else 1))
                return Assigned(exposed, before if env.unstable_buffers(at) else (*before, own))
            case If():
                one = self.body(stmt.then, env.with_fact(stmt.cond), before)
                two = self.body(stmt.orelse, env.with_fact(stmt.cond, False), before)
                return Assigned(exposed or one.exposed or two.exposed, _either(one.written, two.written))
            case For():
                return self._loop(stmt, env, before, exposed)
            case _:
                inner = [self.body(b, step_into(env, stmt, k), before) for k, b in enumerate(bodies(stmt))]
                return Assigned(exposed or any(x.exposed for x in inner), before)

    def _loop(self, loop: For, env: Env, before: Intervals, exposed: bool) -> Assigned:
        done = self.body(loop.body, env.with_loop(loop), before)
        exposed = exposed or done.exposed
        if done.written is None or any(isinstance(s, Break | Continue | Return) for s in walk(loop.body)):
            return Assigned(exposed, before)
        runs = env.always_positive(env.normal(loop.hi) - env.normal(loop.lo))
        inner = set(bound_symbols(loop.body))
        after = list(before)
        for interval in _merged(done.written):
            mentioned = _mentioned(interval[0]) | _mentioned(interval[1])
            if mentioned & inner or interval in after:
                continue
            if loop.sym not in mentioned:
                after += [interval] if runs else []
            elif (whole := _joined(loop, env, interval)) is not None:
                after.append(whole)
        return Assigned(exposed, tuple(after))

    # ---------------------------------------------------------------------------------------------------------- reads

    def _position(self, index: tuple[Expr, ...], env: Env) -> Poly:
        """The element in row-major order. In a defined execution every index is inside its dimension."""
        at = Poly()
        for i, extent in zip(index, self.shape or index, strict=True):
            at = at * env.normal(extent) + env.normal(i)
        return at

    def _reads_open(self, expr: Expr, env: Env, before: Intervals) -> bool:
        if any(self._reads_open(child, env, before) for child in expr_children(expr)):
            return True
        return isinstance(expr, Load) and expr.buf == self.buf and not self._within(expr, env, before)

    def _within(self, load: Load, env: Env, before: Intervals) -> bool:
        first = self._position(load.index, env)
        end = first + const_poly(lanes(load.type) if load.index else 1)
        return any(env.never_negative(first - lo) and env.never_negative(hi - end) for lo, hi in before)


# The intervals lo(x) <= e < hi(x) for x = a, a + s, ... below b join to lo(a) <= e < lo(b) if hi(x) = lo(x + s) and s divides b - a >= 0:
# on the way from lo(a) to lo(b) no element is passed over. If b < a that holds too where lo does not fall: the whole is then empty.
def _joined(loop: For, env: Env, interval: Interval) -> Interval | None:
    lo, hi = interval
    v, step = Var(loop.sym, loop.dtype), int_value(loop.step)
    start, end = env.normal(loop.lo), env.normal(loop.hi)
    span = end - start
    if step is None or any(c % step for c in span.terms.values()) or env.unstable_buffers(start) or env.unstable_buffers(end):
        return None
    if _at(lo, v, atom_poly(v) + const_poly(step)) != hi or _hidden(lo, v):
        return None
    size = hi - lo
    if not env.never_negative(span) and (loop.sym in _mentioned(size) or not env.never_negative(size)):
        return None
    return _at(lo, v, start), _at(lo, v, end)


def _merged(intervals: Intervals) -> Intervals:
    """The intervals, and those that neighbours make together."""
    found = list(intervals)
    for lo, hi in found:
        if len(found) >= MAX_INTERVALS:
            break
        found += [(lo, end) for start, end in intervals if start == hi and end != hi and (lo, end) not in found]
    return tuple(found)


def _at(poly: Poly, v: Var, value: Poly) -> Poly:
    return poly.substitute(lambda atom: value if atom == v else None)


def _hidden(poly: Poly, v: Var) -> bool:
    """Whether a variable occurs within what is not looked into."""
    return any(a != v and any(isinstance(e, Var) and e.sym == v.sym for e in walk_expr(a)) for a in poly.atoms())


def _mentioned(poly: Poly) -> set[Sym]:
    return {e.sym for atom in poly.atoms() for e in walk_expr(atom) if isinstance(e, Var)}


def _either(a: Intervals | None, b: Intervals | None) -> Intervals | None:
    """What is written on both of two ways; a way that does not come to its end does not count."""
    if a is None or b is None:
        return b if a is None else a
    return tuple(p for p in a if p in b)


# ------------------------------------------------------------------------------------------------------------- questions


def private_to_iterations(module: Module, buffer: Alloc, loop: For) -> bool:
    """Whether no iteration of a loop reads what another one, or what stands before the loop, wrote to a buffer."""
    env = env_at(module, loop).with_loop(loop)
    return not Assignment(buffer.sym, buffer.shape).body(loop.body, env).exposed


def dead_after(module: Module, buffer: Alloc, target: Stmt) -> bool:
    """Whether nothing that a statement leaves in a buffer is read afterwards."""
    asked = Assignment(buffer.sym, buffer.shape)
    path = path_to(module.body, target)
    if path is None:
        return False
    parents: list[Stmt | None] = [None, *path[:-1]]
    for parent, child in zip(reversed(parents), reversed(path), strict=True):
        inner = module.body if parent is None else next(b for b in bodies(parent) if any(s is child for s in b))
        position = next(k for k, s in enumerate(inner) if s is child)
        env = env_at(module, child)
        rest = asked.body(inner[position + 1 :], env)
        if rest.exposed:
            return False
        leaves = any(isinstance(s, Break | Continue) for s in walk(inner[position + 1 :]))
        if any(s is buffer for s in inner[:position]) or (rest.written and not buffer.shape and not leaves):
            return True
        if isinstance(parent, For | While) and asked.body(inner, env).exposed:
            return False  # the next iteration of a loop around it reads it
    return True


def written_before(module: Module, buffer: Alloc, target: Stmt) -> bool:
    """Whether a mutable scalar has a value whenever a statement is reached."""
    asked = Assignment(buffer.sym, buffer.shape)
    path = path_to(module.body, target)
    if path is None or buffer.init is not None:
        return buffer.init is not None
    known: Intervals = ()
    env, here = module_env(module), module.body
    for step in path:
        position = next(k for k, s in enumerate(here) if s is step)
        done = asked.body(here[:position], env, known)
        if done.written is None:
            return True  # never reached
        known = done.written
        if step is target:
            break
        branch = next(k for k, b in enumerate(bodies(step)) if path_to(b, target) is not None)
        here = bodies(step)[branch]
    return bool(known)


def wholly_written(module: Module, param: Param) -> bool:
    """Whether the entry, whenever it ends, has written every element of a parameter, and read none before."""
    if not param.shape or any(isinstance(s, Return) for s in walk(module.body)):
        return False
    env = module_env(module)
    done = Assignment(param.sym, param.shape).body(module.body, env)
    if done.exposed or done.written is None:
        return False
    end, extent = Poly(), env.normal(param.shape[0])
    for _ in done.written:
        if env.never_negative(end - extent):
            return True
        further = [hi for lo, hi in done.written if lo == end and not env.never_negative(end - hi)]
        if not further:
            return False
        end = further[0]
    return env.never_negative(end - extent)
