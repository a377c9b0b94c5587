"""``simplify``: the clean-up after every other pass."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.linear import Env, module_env
from synth.analysis.polynomial import Poly, atom_poly, const_poly
from synth.analysis.speculation import is_harmless
from synth.ir.builder import cast, const
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Binary, Body, Call, Const, Expr, For, If, Launch, Let, Load, Module, Stmt, Store, Sym, Var, While
from synth.ir.traversal import (
    map_stmt_exprs,
    read_buffers,
    rewrite_stmts,
    substitute,
    substitute_expr,
    used_values,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.arithmetic import is_integer, simplified, write
from synth.passes.base import Legal, Verdict
from synth.passes.operand_order import ordered
from synth.spec import DeviceSpec

ROUNDS = 4
THREADS = frozenset({"tx", "ty", "tz", "bx", "by", "bz"})  # what recovered loops are called


@dataclass(frozen=True, slots=True)
class Simplify:
    """Folds, narrows and removes what can be decided, leaving names as they are.

    Before: ``for tx in 0..256 { let i = i32(u32(bx) * 256u + u32(tx)); if (i < n) { C[i] = A[i] } }``
    After:  ``for tx in 0..min(256, n - bx * 256) { let i = bx * 256 + tx; C[i] = A[i] }``
    """

    name: ClassVar[str] = "simplify"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Itself where it changes something."""
        return (cls(),) if cls().apply(module, spec) != module else ()

    # Each rewrite replaces an expression by one of the same value wherever it is evaluated (ranges, guards and definitions in scope being
    # the premises), drops statements without effect, or restricts a loop to the iterations in which its only effect happens.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        for before, after in _done:
            if before is module:
                return after
        after = _simplest(module)
        _done.insert(0, (module, after))
        del _done[_KEPT:]
        return after


# ``space`` has to do what ``apply`` is then asked for, and ``attempt`` asks again about the result: the last answers are kept.
_done: list[tuple[Module, Module]] = []
_KEPT = 4


def _simplest(module: Module) -> Module:
    for _ in range(ROUNDS):
        body = _body(module.body, module_env(module))
        body = _without_dead(body, module)
        body = ordered(dataclasses.replace(module, body=body)).body
        if body == module.body:
            _done.insert(0, (module, module))
            break
        module = dataclasses.replace(module, body=body)
    return module


def _body(body: Body, env: Env) -> Body:
    out: list[Stmt] = []
    pending = list(body)
    while pending:
        stmt = map_stmt_exprs(pending.pop(0), lambda e, env=env: simplified(e, env))  # type: ignore[misc]
        match stmt:
            case Let():
                replacement = _trivial(stmt, env)
                if replacement is not None:
                    pending = list(substitute(tuple(pending), {stmt.sym: replacement}))
                    continue
                narrow = _narrowed(stmt, env)
                if narrow is not None:
                    stmt, use = narrow
                    pending = list(substitute(tuple(pending), {stmt.sym: use}))
                env = env.with_let(stmt)
                if is_integer(stmt.value):
                    env = env.with_range(stmt.sym, env.range_of(stmt.value))
                out.append(stmt)
            case For() if stmt.axis is not None and (stmt.axis.is_block or stmt.axis.is_thread):
                out.append(dataclasses.replace(stmt, body=_body(stmt.body, env.with_loop(stmt))))  # a launch keeps its six loops
            case For():
                out.extend(_loop(stmt, env))
            case If():
                out.extend(_if(stmt, env))
            case While(cond=Const(value=False)):
                continue
            case While() | Launch():
                out.append(with_bodies(stmt, tuple(_body(b, env) for b in (stmt.body,))))
            case Store(value=Load() as value) if value.buf == stmt.buf and value.index == stmt.index and value.mask is None:
                continue
            case _:
                out.append(stmt)
    return tuple(out)


def _trivial(let: Let, env: Env) -> Expr | None:
    """A value that may stand wherever the name stands: a literal or another immutable value."""
    return let.value if isinstance(let.value, Const | Var) else None


def _narrowed(let: Let, env: Env) -> tuple[Let, Expr] | None:
    """The definition in ``i32`` when its value fits, and what its uses become; indexes then read without casts."""
    value = let.value
    if not is_integer(value) or value.type in (DType.I32, DType.I8, DType.U8, DType.I16, DType.U16):
        return None
    if not isinstance(value.type, DType) or not env.range_of(value).within(DType.I32):
        return None
    inner = simplified(cast(value, DType.I32), env)
    return Let(let.sym, inner, let.loc), cast(Var(let.sym, DType.I32), value.type)


def _loop(loop: For, env: Env) -> Body:
    lo, hi, step = env.normal(loop.lo), env.normal(loop.hi), env.normal(loop.step)
    if env.never_negative(lo - hi):
        return ()
    if env.never_negative(step - (hi - lo)) and env.always_positive(hi - lo) and not _leaves(loop.body):
        return _body((Let(loop.sym, loop.lo, loop.loc), *loop.body), env)
    narrow = _narrow_loop(loop, env)
    if narrow is not None:
        loop = narrow
    loop = _named_by_program(loop, env)
    inner = env.with_loop(loop)
    loop = dataclasses.replace(loop, body=_body(loop.body, inner))
    outside = _guard_moved_out(loop)
    if outside is not None:
        return _if(outside, env)
    bounded = _guard_to_bound(loop, env)
    if bounded is not None:
        return _loop(bounded, env) if bounded.hi != loop.hi else (bounded,)
    return (loop,) if loop.body else ()


# for x { lets; if (c && d) S }  ==  if (c) for x { lets; if (d) S }
# provided that c does not depend on x and its evaluation loads nothing and divides by literals only: it has one value in all iterations,
# and may be evaluated where there are none.
def _guard_moved_out(loop: For) -> If | None:
    if not loop.body or loop.axis is not None:
        return None
    *lets, last = loop.body
    if not isinstance(last, If) or last.orelse or not all(isinstance(s, Let) for s in lets):
        return None
    values = {s.sym: s.value for s in lets if isinstance(s, Let)}
    out: list[Expr] = []
    rest: list[Expr] = []
    for cond in conjuncts(last.cond):
        whole = cond
        while any(v.sym in values for v in all_vars(whole)):
            whole = substitute_expr(whole, values)
        (out if _is_free(whole, loop.sym) else rest).append(whole if _is_free(whole, loop.sym) else cond)
    if not out:
        return None
    inner = last.then if not rest else (dataclasses.replace(last, cond=conjunction(rest)),)
    return If(conjunction(out), (dataclasses.replace(loop, body=(*lets, *inner)),), (), last.loc)


def _is_free(cond: Expr, sym: Sym) -> bool:
    return is_harmless(cond) and not any(isinstance(e, Load) or (isinstance(e, Var) and e.sym == sym) for e in walk_expr(cond))


def _leaves(body: Body) -> bool:
    from synth.ir.grammar import Break, Continue

    return any(isinstance(s, Break | Continue) for s in walk(body))


def _named_by_program(loop: For, env: Env) -> For:
    """A loop over threads, blocks or a part of an index has the name that the program gives to its variable, if it gives one."""
    if loop.axis is not None or not (loop.sym.name in THREADS or "." in loop.sym.name):
        return loop
    inside, x = env.with_loop(loop), Var(loop.sym, loop.dtype)
    for s in walk(loop.body):
        if isinstance(s, Let) and is_integer(s.value) and s.sym.name not in THREADS and inside.normal(s.value) == atom_poly(x):
            sym = s.sym.fresh()
            return dataclasses.replace(loop, sym=sym, body=substitute(loop.body, {loop.sym: Var(sym, loop.dtype)}))
    return loop


def _narrow_loop(loop: For, env: Env) -> For | None:
    """A loop over ``i32`` when its bounds fit."""
    if loop.dtype == DType.I32 or (loop.axis is not None and (loop.axis.is_block or loop.axis.is_thread)):
        return None
    parts = (loop.lo, loop.hi, loop.step)
    if not all(env.range_of(e).within(DType.I32) for e in parts):
        return None
    end, stride = env.range_of(loop.hi).hi, env.range_of(loop.step).hi
    if end is None or stride is None or end + stride - 1 > DType.I32.max_int:
        return None  # the variable would wrap on its way past the end
    lo, hi, step = (simplified(cast(e, DType.I32), env) for e in parts)
    body = substitute(loop.body, {loop.sym: cast(Var(loop.sym, DType.I32), loop.dtype)})
    return dataclasses.replace(loop, dtype=DType.I32, lo=lo, hi=hi, step=step, body=body)


# for x in lo..hi { if (k - x > 0 && rest) S }  ==  for x in lo..min(hi, k) { if (rest) S }
# provided that k does not depend on x or on anything written in S, and the condition is the last statement of the body.
def _guard_to_bound(loop: For, env: Env) -> For | None:
    if not loop.body or loop.step != const(1, loop.dtype) or (loop.axis is not None and (loop.axis.is_block or loop.axis.is_thread)):
        return None
    *lets, last = loop.body
    if not isinstance(last, If) or last.orelse or not all(isinstance(s, Let) for s in lets):
        return None
    inner = env.with_loop(loop)
    for let in lets:
        if isinstance(let, Let):
            inner = inner.with_let(let)
    x = Var(loop.sym, loop.dtype)
    hi, rest, changed = loop.hi, [], False
    for cond in conjuncts(last.cond):
        bound = _upper_bound(cond, x, {s.sym for s in lets if isinstance(s, Let)}, inner)
        written = _outside(bound, env, loop.dtype) if bound is not None else None
        if written is None or written == hi:
            rest.append(cond)
            continue
        hi, changed = Binary("min", hi, written), True
    if not changed:
        return None
    body = tuple(lets) + (last.then if not rest else (dataclasses.replace(last, cond=conjunction(rest)),))
    return dataclasses.replace(loop, hi=simplified(hi, env), body=body)


def conjuncts(cond: Expr) -> list[Expr]:
    """The parts of a conjunction, left to right."""
    return [*conjuncts(cond.a), *conjuncts(cond.b)] if isinstance(cond, Binary) and cond.op == "land" else [cond]


def conjunction(parts: list[Expr]) -> Expr:
    """All of the parts; there must be one."""
    total = parts[0]
    for part in parts[1:]:
        total = Binary("land", total, part)
    return total


def _upper_bound(cond: Expr, x: Var, inside: set[Sym], env: Env) -> Poly | None:
    """``k`` such that the condition says ``x < k``, when it is a single inequality in which ``x`` has coefficient one; ``inside`` are
    definitions of the loop's body, of which ``k`` must be free."""
    from synth.analysis.linear import constraints

    facts = list(constraints(cond, True, env))
    if len(facts) != 1 or facts[0].terms.get((x,)) != -1 or not isinstance(cond, Binary) or cond.op not in ("lt", "le", "gt", "ge"):
        return None
    k = facts[0].without(x) + const_poly(1)
    mentions = {e.sym for atom in k.atoms() for e in all_vars(atom)}
    return None if mentions & {x.sym, *inside} or not all(env.stable(a) for a in k.atoms()) else k


def all_vars(expr: Expr) -> list[Var]:
    return [e for e in walk_expr(expr) if isinstance(e, Var)]


def _outside(k: Poly, env: Env, dtype: DType) -> Expr | None:
    """``k`` written in the loop's type with what is in scope outside the loop, if it fits; a bound below the loop is the empty loop."""
    if not env.bounds(k).within(dtype):
        return None
    return write(k, dtype, env)


def _if(stmt: If, env: Env) -> Body:
    if isinstance(stmt.cond, Const):
        return _body(stmt.then if stmt.cond.value else stmt.orelse, env)
    then = _body(stmt.then, env.with_fact(stmt.cond))
    orelse = _body(stmt.orelse, env.with_fact(stmt.cond, False))
    if not then and not orelse:
        return ()
    if len(then) == 1 and isinstance(then[0], If) and not then[0].orelse and not orelse:
        return (dataclasses.replace(stmt, cond=Binary("land", stmt.cond, then[0].cond), then=then[0].then, orelse=()),)
    return (dataclasses.replace(stmt, then=then, orelse=orelse),)


def _without_dead(body: Body, module: Module) -> Body:
    """Drops definitions that nobody uses and private buffers that nobody reads."""
    while True:
        used, read, written = used_values(body), read_buffers(body), written_buffers(body)
        params = {p.sym for p in module.params}
        useless = {s.sym for s in walk(body) if isinstance(s, Alloc) and s.sym not in read and s.sym not in params}

        kept = {a for a in useless if a in written and not _only_stored(body, a)}

        def keep(s: Stmt, used: set[Sym] = used, useless: set[Sym] = useless, kept: set[Sym] = kept) -> Stmt | Body:
            if isinstance(s, Let) and s.sym not in used:
                return ()
            if isinstance(s, Store) and s.buf in useless - kept:
                return ()
            if isinstance(s, Call) and s.dests and s.op.startswith("host.") and all(d.buf in useless for d in s.dests):
                return ()
            if isinstance(s, Alloc) and s.sym in useless - kept:
                return ()
            if isinstance(s, For | If) and not any(with_content(s)):
                return ()
            return s

        new = rewrite_stmts(body, keep)
        if new == body:
            return new
        body = new


def _only_stored(body: Body, buf: Sym) -> bool:
    """Whether nothing but stores and host copies writes the buffer, so that it can go with them."""
    return all(s.op.startswith("host.") for s in walk(body) if isinstance(s, Call) and any(d.buf == buf for d in s.dests))


def with_content(stmt: For | If) -> tuple[Body, ...]:
    """The bodies of a loop or a branch."""
    return (stmt.body,) if isinstance(stmt, For) else (stmt.then, stmt.orelse)
