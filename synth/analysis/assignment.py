"""Is a buffer written before it is read? Definite assignment (as in the Java Language Specification, chapter 16) of mutable scalars and of
the leading elements of arrays, by the structure of the program.

What is known of a buffer is a set of *prefixes*: extents ``E`` such that its elements ``0 .. E-1`` (in row-major order) have surely been
written. A scalar has one element. Everything else counts as not written, so an answer ``exposed`` means only that it is not excluded.
"""

from __future__ import annotations

from dataclasses import dataclass

from synth.analysis.linear import Env, env_at, module_env, step_into
from synth.analysis.polynomial import Poly, const_poly
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
    Region,
    Return,
    Stmt,
    Store,
    Sym,
    Var,
    While,
)
from synth.ir.traversal import bodies, expr_children, path_to, read_buffers, stmt_exprs, walk, written_buffers

Prefixes = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """After a piece of code: ``exposed`` when it may have read an element that was not surely written; ``prefixes`` what is surely written
    at its end, None where its end is not reached."""

    exposed: bool
    prefixes: Prefixes | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The question about one buffer of a certain shape (of the rank that its accesses have)."""

    buf: Sym
    shape: tuple[Expr, ...]

    def body(self, body: Body, env: Env, before: Prefixes = ()) -> Assigned:
        """What a body does, when ``before`` is written at its start and ``env`` holds there."""
        exposed, now = False, before
        for stmt in body:
            if self._touched(stmt):
                done = self._stmt(stmt, env, now)
                exposed = exposed or done.exposed
                if done.prefixes is None:
                    return Assigned(exposed, None)
                now = done.prefixes
            elif isinstance(stmt, Return | Break | Continue):
                return Assigned(exposed, None)
            if isinstance(stmt, Let):
                env = env.with_let(stmt)
        return Assigned(exposed, now)

    def _touched(self, stmt: Stmt) -> bool:
        return self.buf in read_buffers((stmt,)) or self.buf in written_buffers((stmt,))

    # ----------------------------------------------------------------------------------------------------- statements

    def _stmt(self, stmt: Stmt, env: Env, before: Prefixes) -> Assigned:
        exposed = any(self._reads_open(e, env, before) for e in stmt_exprs(stmt))
        if isinstance(stmt, Call):
            exposed = exposed or any(isinstance(a, Region) and a.buf == self.buf for a in stmt.args)
        match stmt:
            case Store() if stmt.buf == self.buf and stmt.mask is None and not stmt.index:
                return Assigned(exposed, (*before, const_poly(1)))
            case If():
                one = self.body(stmt.then, env.with_fact(stmt.cond), before)
                two = self.body(stmt.orelse, env.with_fact(stmt.cond, False), before)
                return Assigned(exposed or one.exposed or two.exposed, _either(one.prefixes, two.prefixes))
            case For():
                return self._loop(stmt, env, before, exposed)
            case _:
                inner = [self.body(b, step_into(env, stmt, k), before) for k, b in enumerate(bodies(stmt))]
                return Assigned(exposed or any(x.exposed for x in inner), before)

    # for i in 0..n { .. b[i * s + r] = v .. } with the elements i * s .. i * s + s - 1 written in iteration i: after it 0 .. n * s - 1 are.
    # Within an iteration, elements that only this one writes are known one by one; that is used for reads of the very index just written.
    def _loop(self, loop: For, env: Env, before: Prefixes, exposed: bool) -> Assigned:
        inside = env.with_loop(loop)
        if self.shape and (covered := self._filled(loop, env)) is not None:
            reads = any(self._reads_open(e, inside, before) for e in _other_reads(loop.body, self.buf))
            return Assigned(exposed or reads, (*before, covered))
        done = self.body(loop.body, inside, before)
        exposed = exposed or done.exposed
        leaves = any(isinstance(s, Break | Continue) for s in walk(loop.body))
        runs = env.always_positive(env.normal(loop.hi) - env.normal(loop.lo))
        if runs and not leaves and done.prefixes is not None:
            own = tuple(p for p in done.prefixes if loop.sym not in _mentioned(p))
            return Assigned(exposed, own)
        return Assigned(exposed, before)

    def _filled(self, loop: For, env: Env) -> Poly | None:
        """The prefix that a nest of loops around one unconditional store writes, its reads being what ``_other_reads`` gives."""
        nest = [loop]
        while len([s for s in nest[-1].body if self._touched(s)]) == 1:
            inner = next(s for s in nest[-1].body if self._touched(s))
            if not isinstance(inner, For):
                break
            nest.append(inner)
        innermost = nest[-1].body
        stores = [s for s in innermost if isinstance(s, Store) and s.buf == self.buf and s.mask is None and lanes(s.value.type) == 1]
        if len(stores) != 1 or any(isinstance(s, Break | Continue | Return | While) for s in walk(loop.body)):
            return None
        if sum(1 for s in walk(loop.body) if isinstance(s, Store | Call) and self.buf in written_buffers((s,))) != 1:
            return None
        position = innermost.index(stores[0])
        bounds = {e.buf for x in nest for e in _loads(x)}
        if any(self._touched(s) for s in innermost[:position]) or self.buf in bounds | {e.buf for e in _loads(stores[0])}:
            return None
        here = env
        for x in nest:
            here = here.with_loop(x)
        for s in innermost[:position]:
            if isinstance(s, Let):
                here = here.with_let(s)
        return self._prefix(stores[0], nest, env, here)

    def _prefix(self, store: Store, nest: list[For], env: Env, here: Env) -> Poly | None:
        """``0 .. E-1`` for an index that counts through a nest of loops from 0 by 1, the last dimension fastest."""
        index = here.normal(store.index[0])
        for i, extent in zip(store.index[1:], self.shape[1:], strict=True):
            index = index * here.normal(extent) + here.normal(i)
        size = const_poly(1)
        if len(nest) > 1 and not all(env.never_negative(env.normal(x.hi)) for x in nest):
            return None  # a product of two negative counts is positive
        for x in reversed(nest):
            v = Var(x.sym, x.dtype)
            zero = here.normal(x.lo).constant == 0 and here.normal(x.step).constant == 1
            if any(m.count(v) > 1 for m in index.terms):
                return None
            if not zero or index.coefficient(v) != size:
                return None
            index, size = index.without(v), size * here.normal(x.hi)
        inner = {x.sym for x in nest}
        if index.terms or _mentioned(size) & inner or env.unstable_buffers(size):
            return None
        return size

    # ---------------------------------------------------------------------------------------------------------- reads

    def _reads_open(self, expr: Expr, env: Env, before: Prefixes) -> bool:
        if any(self._reads_open(child, env, before) for child in expr_children(expr)):
            return True
        return isinstance(expr, Load) and expr.buf == self.buf and not self._within(expr, env, before)

    def _within(self, load: Load, env: Env, before: Prefixes) -> bool:
        if not load.index:
            return bool(before)
        index, unit = env.normal(load.index[0]), const_poly(1)
        for i, extent in zip(load.index[1:], self.shape[1:], strict=True):
            if not (env.never_negative(env.normal(i)) and env.never_negative(env.normal(extent) - env.normal(i) - unit)):
                return False
            index = index * env.normal(extent) + env.normal(i)
        last = index + const_poly(lanes(load.type))
        return env.never_negative(index) and any(env.never_negative(p - last) for p in before)


def _other_reads(body: Body, buf: Sym) -> list[Expr]:
    """Loads of the buffer in a filling loop that read another element than the one just written: after it, where its index is the same,
    the read sees it."""
    stored = [s.index for s in walk(body) if isinstance(s, Store) and s.buf == buf]
    return [e for s in walk(body) for e in _loads(s) if e.buf == buf and e.index not in stored]


def _loads(stmt: Stmt) -> list[Load]:
    found: list[Load] = []
    waiting = list(stmt_exprs(stmt))
    while waiting:
        e = waiting.pop()
        waiting += expr_children(e)
        if isinstance(e, Load):
            found.append(e)
    return found


def _mentioned(poly: Poly) -> set[Sym]:
    found: set[Sym] = set()
    waiting: list[Expr] = list(poly.atoms())
    while waiting:
        e = waiting.pop()
        waiting += expr_children(e)
        if isinstance(e, Var):
            found.add(e.sym)
    return found


def _either(a: Prefixes | None, b: Prefixes | None) -> Prefixes | None:
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
        if any(s is buffer for s in inner[:position]) or (rest.prefixes and not buffer.shape and not leaves):
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
    env, here, known = module_env(module), module.body, Prefixes()
    for step in path:
        position = next(k for k, s in enumerate(here) if s is step)
        done = asked.body(here[:position], env, known)
        if done.prefixes is None:
            return True  # never reached
        known = done.prefixes
        if step is target:
            break
        branch = next(k for k, b in enumerate(bodies(step)) if path_to(b, target) is not None)
        here = bodies(step)[branch]
    return bool(known)
