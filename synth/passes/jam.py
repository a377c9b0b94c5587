"""``jam``: several iterations of an outer loop run together through its inner loops, so that what they share is loaded once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.analysis.linear import env_at
from synth.errors import IllegalPassError
from synth.ir.builder import const, int_value
from synth.ir.grammar import Alloc, Binary, Body, Break, Continue, Expr, For, If, Let, Load, Module, Stmt, Sym, Var
from synth.ir.traversal import bodies, find_loop, loops, refresh, rename_buffers, replace_stmt, substitute, walk, walk_expr, with_bodies
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

FACTORS = (2, 4, 8)
STATEMENTS = 600


@dataclass(frozen=True, slots=True)
class Jam:
    """Runs ``factor`` iterations of a loop in lock step (unroll and jam); what remains runs one by one.

    Before: ``for i { x = 0; for k { x = x + A[i, k] * B[k] }; C[i] = x }``
    After:  ``for i step 2 { x = 0; x' = 0; for k { x = x + A[i, k] * B[k]; x' = x' + A[i + 1, k] * B[k] }; C[i] = x; C[i + 1] = x' }``
    """

    name: ClassVar[str] = "jam"
    site: str
    factor: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Loops around loops with enough iterations."""
        return tuple(
            cls(site, factor)
            for site, loop in loops(module).items()
            if _why_not(loop) == ""
            for factor in FACTORS
            if (int_value(loop.hi) or factor) >= factor
        )

    # Different iterations touch no common element that one of them writes: so their statements may be interleaved in any way that keeps
    # the order of each iteration. An inner loop is shared where its bounds are the same in all iterations.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None:
            return Illegal(f"there is no loop '{self.site}'", self.site)
        reason = _why_not(loop)
        if reason:
            return Illegal(reason, self.site)
        if not 2 <= self.factor <= 16 or self.factor * sum(1 for _ in walk(loop.body)) > STATEMENTS:
            return Illegal(f"{self.factor} copies of the body are none or too many", self.site)
        proof = independent_iterations(module, loop)
        if not proof or proof.reductions:
            return Illegal(proof.reason or "the iterations accumulate", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None or _why_not(loop):
            raise IllegalPassError(f"jam: loop '{self.site}' does not qualify")
        env = env_at(module, loop)
        size, width = self.factor, const(self.factor, loop.dtype)
        span = env.normal(loop.hi) - env.normal(loop.lo)
        copies = [{loop.sym: _plus(Var(loop.sym, loop.dtype), k)} for k in range(size)]
        together = _jammed(loop.body, [_Copy(values, {}) for values in copies])
        if all(c % size == 0 for c in span.terms.values()):
            new: Body = (dataclasses.replace(loop, step=width, body=together),)
        else:
            whole = Binary("mul", Binary("div", Binary("sub", loop.hi, loop.lo), width), width)
            full = Let(Sym(f"{loop.sym.name}.full"), Binary("add", loop.lo, whole))
            named = Var(full.sym, loop.dtype)
            rest = refresh((dataclasses.replace(loop, lo=Binary("max", named, loop.lo)),))
            new = (full, dataclasses.replace(loop, hi=named, step=width, body=together), *rest)
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, new))


def _why_not(loop: For) -> str:
    if (loop.axis is not None and loop.axis.is_thread) or (loop.axis is not None and loop.axis.is_block) or int_value(loop.step) != 1:
        return f"loop '{loop.sym.name}' is bound to a GPU axis or has another step than one"
    if not any(isinstance(s, For) for s in walk(loop.body)):
        return f"loop '{loop.sym.name}' has no inner loop"
    if any(isinstance(s, Break | Continue) for s in walk(loop.body)):
        return "a loop in the body is left or continued early"
    return ""


def _plus(x: Var, k: int) -> Expr:
    return Binary("add", x, const(k, x.type)) if k else x  # type: ignore[arg-type]


@dataclass(slots=True)
class _Copy:
    """One of the iterations: what its values and its buffers are called."""

    values: dict[Sym, Expr]
    buffers: dict[Sym, Sym]

    def of(self, stmt: Stmt) -> Stmt:
        return rename_buffers(substitute((stmt,), self.values), self.buffers)[0]


def _jammed(body: Body, copies: list[_Copy]) -> Body:
    out: list[Stmt] = []
    run: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, For | If):
            # What is bound before it must be known to the copies before they are asked whether they agree.
            out += _one_after_the_other(run, copies)
            run = []
        if _is_shared(stmt, copies):
            out.append(_shared(stmt, copies))
        else:
            run.append(stmt)
    return (*out, *_one_after_the_other(run, copies))


def _is_shared(stmt: Stmt, copies: list[_Copy]) -> bool:
    """A loop or a branch that all iterations take together."""
    match stmt:
        case For():
            return not any(_differs(e, copies) for e in (stmt.lo, stmt.hi, stmt.step))
        case If():
            return not _differs(stmt.cond, copies)
        case _:
            return False


def _shared(stmt: Stmt, copies: list[_Copy]) -> Stmt:
    first = copies[0].of(with_bodies(stmt, tuple(() for _ in bodies(stmt))))
    return with_bodies(first, tuple(_jammed(inner, copies) for inner in bodies(stmt)))


def _one_after_the_other(run: list[Stmt], copies: list[_Copy]) -> Body:
    return tuple(_copied(stmt, copy, number) for number, copy in enumerate(copies) for stmt in run)


def _copied(stmt: Stmt, copy: _Copy, number: int) -> Stmt:
    new = copy.of(stmt)
    if number == 0 and isinstance(stmt, Alloc):
        copy.buffers = {**copy.buffers, stmt.sym: stmt.sym}
        return new
    if isinstance(new, Let):
        sym = stmt.sym if number == 0 else stmt.sym.fresh()  # type: ignore[union-attr]
        copy.values = {**copy.values, stmt.sym: Var(sym, new.value.type)}  # type: ignore[union-attr]
        return dataclasses.replace(new, sym=sym)
    if isinstance(new, Alloc):
        sym = new.sym.fresh()
        copy.buffers = {**copy.buffers, new.sym: sym}
        return dataclasses.replace(new, sym=sym)
    return new if number == 0 else refresh((new,))[0]


def _differs(e: Expr, copies: list[_Copy]) -> bool:
    """Whether an expression may have different values in the iterations."""
    own = set(copies[0].values)
    private = set(copies[0].buffers)
    return any((isinstance(x, Var) and x.sym in own) or (isinstance(x, Load) and x.buf in private) for x in walk_expr(e))
