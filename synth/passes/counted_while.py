"""``counted_while``: a ``while`` that only counts becomes a loop with a known number of iterations."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.linear import Env, env_at
from synth.errors import IllegalPassError
from synth.ir.builder import cast, const
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Module,
    Return,
    Stmt,
    Store,
    Sym,
    Unary,
    Var,
    While,
)
from synth.ir.traversal import replace_stmt, site_names, sites, stmt_exprs, substitute_expr, walk, walk_expr, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_NEGATED = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


@dataclass(frozen=True, slots=True)
class CountedWhile:
    """Replaces a loop that ends when a counter has passed a limit.

    Before: ``while (true) { let old = n[]; n[] = old - 1; if (old <= 0) break; S }``
    After:  ``let n.start = n[]; for n.trip in 0..n.start { n[] = n.start - n.trip - 1; S }; n[] = ...``

    ``site``: the counter.
    """

    name: ClassVar[str] = "counted_while"
    site: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Counters of loops that qualify."""
        names = site_names(module)
        found = [_plan(module, s) for s in walk(module.body) if isinstance(s, While)]
        return tuple(cls(names[p.counter]) for p in found if isinstance(p, _Plan))

    # The counter is a private integer x that the loop changes once an iteration, on every path, by a literal c; the loop is left by one
    # test of x + d against a limit that the loop does not change, c leading towards it: so it is left after the first k iterations for
    # which x0 + c * k + d is past the limit. What runs before the test in the last, incomplete iteration writes nothing but the counter.
    # As in C, the counter does not overflow.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        plan = _find(module, self.site)
        return Illegal(plan, self.site) if isinstance(plan, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        plan = _find(module, self.site)
        if isinstance(plan, str):
            raise IllegalPassError(f"counted_while {self.site}: {plan}")
        return dataclasses.replace(module, body=replace_stmt(module.body, plan.loop, _rewritten(plan)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """``before`` are the statements before the test (the counter's change may be one of them), ``after`` those behind it. The loop goes on
    while
    ``counter + offset op limit``, the counter taken at the start of an iteration."""

    loop: While
    counter: Sym
    dtype: DType
    step: int
    offset: int
    op: str
    limit: Expr
    before: Body
    after: Body

    @property
    def changes_before(self) -> bool:
        """Whether the counter changes before the test."""
        return any(isinstance(s, Store) for s in self.before)


def _find(module: Module, site: str) -> _Plan | str:
    sym = sites(module).get(site)
    reasons = [f"'{site}' counts no loop"]
    for loop in (s for s in walk(module.body) if isinstance(s, While)):
        plan = _plan(module, loop)
        if isinstance(plan, _Plan) and plan.counter == sym:
            return plan
        if isinstance(plan, str) and sym in written_buffers(loop.body):
            reasons.append(plan)
    return reasons[-1]


def _plan(module: Module, loop: While) -> _Plan | str:
    test = _test(loop)
    if isinstance(test, str):
        return test
    before, goes_on, after = test
    if any(_leaves(s) for s in (*before, *after)):
        return "the loop is left or continued in more than one way"
    allocated = {s.sym: s for s in walk(module.body) if isinstance(s, Alloc)}
    values = {s.sym: s.value for s in before if isinstance(s, Let)}
    whole = goes_on
    while any(isinstance(e, Var) and e.sym in values for e in walk_expr(whole)):
        whole = substitute_expr(whole, values)
    if not isinstance(whole, Binary) or whole.op not in _FLIPPED:
        return "the loop does not end at a comparison"
    written, env = written_buffers(loop.body), env_at(module, loop)
    for op, mine, limit in ((whole.op, whole.a, whole.b), (_FLIPPED[whole.op], whole.b, whole.a)):
        form = _counter_plus(mine, env)
        if form is None or form[0] not in allocated:
            continue
        counter, offset = form
        home = allocated[counter]
        if home.shape or not isinstance(home.dtype, DType) or home.dtype not in (DType.I32, DType.I64):
            continue
        if any(isinstance(e, Load) and e.buf in written for e in walk_expr(limit)):
            return "the limit changes in the loop"
        steps = [s for s in (*before, *after) if isinstance(s, Store) and s.buf == counter]
        if len(steps) != 1 or sum(1 for s in walk(loop.body) if isinstance(s, Store) and s.buf == counter) != 1:
            return f"'{counter.name}' changes more than once, or not always"
        body = (*before, *after)
        earlier = {s.sym: s.value for s in body[: next(k for k, s in enumerate(body) if s is steps[0])] if isinstance(s, Let)}
        step = _step(steps[0], earlier, env)
        if step is None or step == 0 or (step > 0) != (op in ("lt", "le")):
            return f"'{counter.name}' does not count towards the limit"
        if any(not isinstance(s, Let) and s is not steps[0] for s in before):
            return "something happens before the test"
        if any(s is steps[0] for s in before):
            if _reads_after(before, steps[0], counter):
                return f"'{counter.name}' is read between its change and the test"
            if any(isinstance(e, Load) and e.buf == counter for e in walk_expr(goes_on)):
                offset += step  # the test itself reads what the change left
        if any(isinstance(s, Call) for s in walk(loop.body)):
            return "the loop calls something"
        return _Plan(loop, counter, home.dtype, step, offset, op, limit, before, after)
    return "the loop does not end at a comparison with a counter"


def _test(loop: While) -> tuple[Body, Expr, Body] | str:
    """Statements before the test, the condition to go on, statements behind."""
    if not (isinstance(loop.cond, Const) and loop.cond.value):
        return (), loop.cond, loop.body
    for position, s in enumerate(loop.body):
        if isinstance(s, If) and len(s.then) == 1 and isinstance(s.then[0], Break) and not s.orelse:
            goes_on = _negated(s.cond)
            if goes_on is None:
                return "the loop does not end at a comparison"
            return loop.body[:position], goes_on, loop.body[position + 1 :]
        if not isinstance(s, Let | Store):
            break
    return "the loop has no test at its start"


def _negated(cond: Expr) -> Expr | None:
    if isinstance(cond, Unary) and cond.op == "lnot":
        return cond.a
    if isinstance(cond, Binary) and cond.op in _NEGATED and isinstance(cond.a.type, DType) and cond.a.type.is_int:
        return Binary(_NEGATED[cond.op], cond.a, cond.b)
    return None


def _leaves(stmt: Stmt, inner: bool = False) -> bool:
    """Whether a statement may leave or continue the loop around it."""
    match stmt:
        case Break() | Continue():
            return not inner
        case Return():
            return True
        case If():
            return any(_leaves(s, inner) for s in (*stmt.then, *stmt.orelse))
        case For() | While():
            return any(_leaves(s, True) for s in stmt.body)
        case _:
            return False


def _counter_plus(e: Expr, env: Env) -> tuple[Sym, int] | None:
    """``x + d`` of a mutable scalar ``x``, conversions that keep its value aside."""
    poly = env.normal(e)
    rest = {m: c for m, c in poly.terms.items() if m}
    match list(rest.items()):
        case [((Load(index=()) as x,), 1)]:
            return x.buf, poly.offset
        case _:
            return None


def _step(store: Store, values: dict[Sym, Expr], env: Env) -> int | None:
    value = store.value
    while any(isinstance(e, Var) and e.sym in values for e in walk_expr(value)):
        value = substitute_expr(value, values)
    form = _counter_plus(value, env)
    return form[1] if form is not None and form[0] == store.buf else None


def _reads_after(before: Body, store: Store, counter: Sym) -> bool:
    rest = before[next(i for i, s in enumerate(before) if s is store) + 1 :]
    return any(isinstance(e, Load) and e.buf == counter for s in rest for root in stmt_exprs(s) for e in walk_expr(root))


def _rewritten(p: _Plan) -> Body:
    start = Let(p.counter.fresh(f"{p.counter.name}.start"), Load(p.counter, (), p.dtype))
    x0 = cast(Var(start.sym, p.dtype), DType.I64)
    # Iterations: those k >= 0 with x0 + offset + step * k op limit.
    first, limit = Binary("add", x0, const(p.offset, DType.I64)), cast(p.limit, DType.I64)
    room = Binary("sub", limit, first) if p.step > 0 else Binary("sub", first, limit)
    if p.op in ("le", "ge"):
        room = Binary("add", room, const(1, DType.I64))
    size = abs(p.step)
    trips: Expr = room if size == 1 else Binary("div", Binary("add", room, const(size - 1, DType.I64)), const(size, DType.I64))
    count = Let(p.counter.fresh(f"{p.counter.name}.trips"), Binary("max", trips, const(0, DType.I64)))
    trip = p.counter.fresh(f"{p.counter.name}.trip")
    k = Var(trip, DType.I64)

    def value(at: Expr, extra: int) -> Expr:
        return cast(Binary("add", x0, Binary("mul", const(p.step, DType.I64), Binary("add", at, const(extra, DType.I64)))), p.dtype)

    # The counter is set at the start of every iteration, and what the loop does to it stays.
    body: Body = (Store(p.counter, (), value(k, 0), None, p.loop.loc), *p.before, *p.after)
    one, zero = const(1, DType.I64), const(0, DType.I64)
    new = For(trip, DType.I64, zero, Var(count.sym, DType.I64), one, body, None, p.loop.loc)
    last = Store(p.counter, (), value(Var(count.sym, DType.I64), 1 if p.changes_before else 0), None, p.loop.loc)
    return (start, count, new, last)
