"""``vectorize``: iterations of a loop in SIMD lanes, as explicit vector values."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import independent_iterations
from synth.analysis.linear import Env, env_at
from synth.errors import IllegalPassError
from synth.intrinsics.avx512 import is_register
from synth.ir.builder import const
from synth.ir.dtypes import DType, Vec, scalar
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Broadcast,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    MakeVec,
    Module,
    Reduce,
    Space,
    Stmt,
    Store,
    Sym,
    Var,
)
from synth.ir.traversal import (
    all_exprs,
    bodies,
    find_loop,
    loops,
    path_to,
    refresh,
    replace_stmt,
    rewrite_stmts,
    stmt_exprs,
    walk,
    walk_expr,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.vector_body import CannotVectorize, VectorBody
from synth.passes.vector_guard import Extents, Guard, extents
from synth.spec import DeviceSpec

REDUCIBLE = {"add", "mul", "min", "max"}


@dataclass(frozen=True, slots=True)
class Vectorize:
    """Runs ``lanes`` iterations of a loop at once; the remainder under a mask.

    Before: ``for x in 0..n { acc = 0; for k { acc = acc + A[k] * B[k*n + x] }; C[x] = acc }``
    After:  ``for x in 0..n/16*16 step 16 { acc: f32x16 = 0; for k { acc = acc + broadcast(A[k]) * B[k*n + x]:f32x16 }; C[x] = acc }``
            and once more with masked loads and stores for the last ``n % 16`` iterations.
    """

    name: ClassVar[str] = "vectorize"
    site: str
    lanes: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Loops without vectors in them, innermost first, at the full register width and at half of it."""
        found = []
        for site, loop in reversed(loops(module).items()):
            if loop.axis is None and not any(isinstance(e.type, Vec) for e in all_exprs(loop.body)):
                full = spec.vector_bits // widest(loop.body)
                found += [cls(site, lanes) for lanes in (full, full // 2) if lanes > 1]
        return tuple(found)

    # Different iterations of the loop touch no common element that one of them writes, except scalars that all of them accumulate into by
    # one operator (over the reals, for floats): then any number of them may run in lock step.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        try:
            floats = _plan(self, module).reassociates
        except CannotVectorize as error:
            return Illegal(str(error), self.site)
        return Legal(("reals",)) if floats else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        try:
            plan = _plan(self, module)
        except CannotVectorize as error:
            raise IllegalPassError(f"vectorize {self.site}: {error}") from error
        return dataclasses.replace(module, body=rewrite_stmts(plan.body, _without_lanes))


def _without_lanes(stmt: Stmt) -> Stmt:
    """A loop whose iterations were to run in lanes is serial once its body works on vectors."""
    if isinstance(stmt, For) and stmt.axis is Axis.SIMD and any(isinstance(e.type, Vec) for e in all_exprs(stmt.body)):
        return dataclasses.replace(stmt, axis=None)
    return stmt


@dataclass(frozen=True, slots=True)
class _Plan:
    body: Body
    reassociates: bool


def _plan(step: Vectorize, module: Module) -> _Plan:
    loop = find_loop(module, step.site)
    if loop is None:
        raise CannotVectorize(f"there is no loop '{step.site}'")
    if loop.axis is not None or loop.step != const(1, loop.dtype) or loop.dtype not in (DType.I32, DType.I64):
        raise CannotVectorize(f"loop '{step.site}' is not a serial loop with step one over int")
    proof = independent_iterations(module, loop)
    if not proof:
        raise CannotVectorize(proof.reason)
    env = env_at(module, loop)
    registers: dict[Sym, tuple[str, Sym]] = {}
    types: dict[Sym, Vec] = {}
    allocated = {s.sym: s for s in _allocs(module.body)}
    for buf, op in proof.reductions:
        home = allocated.get(buf)
        if home is None or home.shape or op not in REDUCIBLE or isinstance(home.dtype, Vec):
            raise CannotVectorize(f"'{buf.name}' is accumulated in memory by '{op}'")
        types[buf] = Vec(home.dtype, step.lanes)
        if not is_register(types[buf]):
            raise CannotVectorize(f"{step.lanes} values of type {home.dtype} do not fill a register")
        registers[buf] = (op, Sym(f"{buf.name}.lanes"))
    replacement = _loops(loop, env, step.lanes, registers, extents(module))
    outer: dict[Sym, list[tuple[Body, Body]]] = {}
    for buf, (op, register) in registers.items():
        vector = types[buf]
        start: Expr = Broadcast(identity(op, vector.dtype), vector.lanes)
        before: Body = (Alloc(register, vector, (), Space.LOCAL), Store(register, (), start))
        total = Reduce(op, Load(register, (), vector))
        after: Body = (Store(buf, (), Binary(op, Load(buf, (), vector.dtype), total)),)
        around = _around(module, loop, buf)
        if around is loop:
            replacement = (*before, *replacement, *after)
        else:
            outer.setdefault(around.sym, []).append((before, after))
    floats = any(scalar(t).is_float and registers[b][0] in ("add", "mul") for b, t in types.items())
    body = replace_stmt(module.body, loop, replacement)
    return _Plan(_wrapped(body, outer) if outer else body, floats)


# A scalar that a nest of loops does nothing to but accumulate in the innermost one may be accumulated in lanes over the whole nest.
def _around(module: Module, loop: For, buf: Sym) -> For:
    """The outermost serial loop around ``loop`` in which nothing else touches the accumulator."""
    found, uses = loop, _uses(loop.body, buf)
    for parent in reversed((path_to(module.body, loop) or (loop,))[:-1]):
        if not isinstance(parent, For | If) or (isinstance(parent, For) and parent.axis is not None):
            break
        inside = tuple(s for inner in bodies(parent) for s in inner)
        if _uses(inside, buf) != uses or any(isinstance(s, Alloc) and s.sym == buf for s in inside):
            break
        if isinstance(parent, For):
            found = parent
    return found


def _uses(body: Body, buf: Sym) -> int:
    return sum(1 for e in all_exprs(body) if isinstance(e, Load) and e.buf == buf) + sum(
        1 for s in walk(body) if isinstance(s, Store) and s.buf == buf
    )


def _wrapped(body: Body, around: dict[Sym, list[tuple[Body, Body]]]) -> Body:
    """Statements put before and after loops."""

    def one(s: Stmt) -> Stmt | Body:
        if not isinstance(s, For) or s.sym not in around:
            return s
        before = tuple(x for first, _ in around[s.sym] for x in first)
        after = tuple(x for _, last in around[s.sym] for x in last)
        return (*before, s, *after)

    return rewrite_stmts(body, one)


def _allocs(body: Body) -> list[Alloc]:
    return [s for s in walk(body) if isinstance(s, Alloc)]


def identity(op: str, dtype: DType) -> Const:
    """The value that leaves an accumulation as it is."""
    if op in ("add", "mul"):
        return const(0 if op == "add" else 1, dtype)
    if dtype.is_float:
        return Const(math.inf if op == "min" else -math.inf, dtype)
    return const(dtype.max_int if op == "min" else dtype.min_int, dtype)


def _loops(loop: For, env: Env, lanes: int, registers: dict[Sym, tuple[str, Sym]], shapes: Extents) -> Body:
    """Full vectors first, then the remainder under a mask where there may be one."""
    trips = (env.normal(loop.hi) - env.normal(loop.lo)).constant
    width = const(lanes, loop.dtype)

    def body_of(source: For, mask: Expr | None) -> Body:
        # The vector body is made under what the scalar loop knows: the lanes run over its iterations.
        inside = env.with_loop(source)
        return VectorBody(Var(source.sym, source.dtype), lanes, inside, registers, Guard(inside, shapes)).rewrite(source.body, mask)

    if trips is not None and trips % lanes == 0:
        return (dataclasses.replace(loop, step=width, body=body_of(loop, None)),)
    out: list[Stmt] = []
    # For an empty loop the quotient is zero or negative: then there are neither full vectors nor a remainder.
    whole = Binary("sub", loop.hi, loop.lo)
    full = Binary("add", loop.lo, Binary("mul", Binary("div", whole, width), width))
    rest_copy = refresh((loop,))[0]
    if not isinstance(rest_copy, For):
        raise CannotVectorize("the loop cannot be copied")
    if trips is None or trips >= lanes:
        limit = Let(Sym(f"{loop.sym.name}.full"), full)
        out.append(limit)
        named = Var(limit.sym, loop.dtype)
        out.append(dataclasses.replace(loop, hi=named, step=width, body=body_of(loop, None)))
        start: Expr = named
    else:
        start = loop.lo
    rest = Var(rest_copy.sym, loop.dtype)
    lane_numbers = MakeVec(tuple(const(lane, loop.dtype) for lane in range(lanes)))
    left = Broadcast(Binary("sub", loop.hi, rest), lanes)
    mask = Let(Sym("mask"), Binary("lt", lane_numbers, left))
    if not is_register(lane_numbers.type):
        raise CannotVectorize(f"{lanes} values of type {loop.dtype} do not fill a register")
    first = Let(rest_copy.sym, start)
    tail = (first, mask, *body_of(rest_copy, Var(mask.sym, mask.value.type)))
    out.append(If(Binary("lt", start, loop.hi), tail))
    return tuple(out)


def widest(body: Body) -> int:
    """The largest width in bits of a floating-point or small integer value computed in a body; 32 when there is none."""
    widths = [
        scalar(e.type).bits
        for s in walk(body)
        for root in stmt_exprs(s)
        for e in walk_expr(root)
        if scalar(e.type).is_float and not isinstance(e, Const)
    ]
    return max(widths, default=32)
