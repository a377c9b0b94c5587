"""``loop_bind``: a nest of loops becomes a kernel launch, its iterations the threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

from synth.analysis.assignment import written_before
from synth.analysis.dependence import independent_iterations
from synth.analysis.env import Env
from synth.analysis.linear import env_at, to_expr
from synth.analysis.polynomial import const_poly
from synth.analysis.speculation import is_harmless
from synth.errors import IllegalPassError
from synth.ir.builder import add, cast, const, int_value, sub
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Call,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Module,
    Return,
    Space,
    Stmt,
    Sym,
    Var,
    While,
)
from synth.ir.traversal import (
    all_exprs,
    bodies,
    find_loop,
    path_to,
    replace_stmt,
    rewrite_exprs,
    site_names,
    stmt_exprs,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.launch_shape import AxisPlan, BoundLoop, bound_nest
from synth.spec import DeviceSpec

LETTERS = ("x", "y", "z")
PLAIN = (None, Axis.OMP, Axis.SIMD)  # axes of loops that may be bound, and that are ordinary loops within a thread
MAX_LOCAL = 1 << 14  # elements of an array of one thread


@dataclass(frozen=True, slots=True)
class LoopBind:
    """Makes a launch of a nest of independent loops. Each of ``x``, ``y`` and ``z`` names the loops, outermost first, that are collapsed to
    that dimension of the grid, of which a block takes ``threads_x`` (``_y``, ``_z``) iterations. What stands between the loops is done by
    every thread.

    Before: ``for i in 0..n { let r = A[i]; for j in 0..m { C[i * m + j] = r } }``
    After (``x=(j), y=(i), threads_x=32, threads_y=8``)::

        launch { for.block.z .. { for.block.y by in 0..(n + 7) / 8 { for.block.x bx in 0..(m + 31) / 32 {
          for.thread.z .. { for.thread.y ty in 0..8 { for.thread.x tx in 0..32 {
            let i = by * 8 + ty; let j = bx * 32 + tx; if (i < n) { if (j < m) { let r = A[i]; C[i * m + j] = r } } } } } } } }

    where ``n`` and ``m`` are positive, else nothing is launched.
    """

    name: ClassVar[str] = "loop_bind"
    x: tuple[str, ...]
    y: tuple[str, ...] = ()
    z: tuple[str, ...] = ()
    threads_x: int = 256
    threads_y: int = 1
    threads_z: int = 1

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Nests of one and two loops, with blocks of a few shapes."""
        if spec.max_threads_per_block <= 1:
            return ()
        names = site_names(module)
        found: list[Self] = []
        for outer in candidates(module):
            site = names[outer.sym]
            found += [cls((site,), threads_x=size) for size in (spec.warp_size, 128, 256) if size <= spec.max_threads_per_block]
            inner = _next(outer.body)
            if inner is not None:
                child = names[inner[1].sym]
                found.append(cls((child,), (site,), threads_x=spec.warp_size, threads_y=max(1, 256 // spec.warp_size)))
                found.append(cls((site, child), threads_x=256))
        return tuple(found)

    # The loops are nested in one another, each the last statement of the one around it but for conditions; between them stand definitions
    # whose values no iteration changes. For each of them, different iterations (of one and the same iteration of those around it) touch no
    # common element that one of them writes, and none is left early: so no two threads do, and what a thread computes it computes as in
    # the loops, whatever the order. Every iteration is that of exactly one thread, for numbers of iterations that the host knows before the
    # launch; of an inner loop that may depend on outer ones an upper bound is taken, and the thread asks whether its iteration exists.
    # Nothing wraps: iterations are counted in u32 where that is wide enough, else in i64, which no program's counts exceed in its time.
    # Mutable scalars of the host have values when they are read before the launch; no thread writes them.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = self._plan(module, spec)
        return Illegal(found, self._first_site()) if isinstance(found, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._plan(module, spec)
        if isinstance(found, str):
            raise IllegalPassError(f"loop_bind {self._first_site()}: {found}")
        return dataclasses.replace(module, body=replace_stmt(module.body, found.chain[0], found.launched(module)))

    def _first_site(self) -> str:
        return next(iter((*self.z, *self.y, *self.x)), "")

    def _plan(self, module: Module, spec: DeviceSpec) -> _Plan | str:
        sites = (*self.x, *self.y, *self.z)
        threads = (self.threads_x, self.threads_y, self.threads_z)
        problem = _threads_problem(threads, spec)
        if problem or not self.x:
            return problem or "no loop is bound to x"
        chosen = {site: find_loop(module, site) for site in sites}
        missing = [site for site, loop in chosen.items() if loop is None]
        if missing or len(chosen) != len(sites):
            return f"there is no loop '{missing[0]}'" if missing else "a loop is named twice"
        syms = {loop.sym for loop in chosen.values() if loop is not None}
        chain = _chain(module, syms)
        if isinstance(chain, str):
            return chain
        reason = _not_a_thread(module, chain) or _dependent(module, chain)
        if reason:
            return reason
        return _planned(module, spec, chain, tuple(tuple(chosen[s] for s in part) for part in (self.x, self.y, self.z)), threads)


def _threads_problem(threads: tuple[int, int, int], spec: DeviceSpec) -> str:
    if spec.max_threads_per_block <= 1:
        return f"{spec.name} has no blocks of threads"
    if min(threads) < 1 or threads[0] * threads[1] * threads[2] > spec.max_threads_per_block:
        return f"a block of {threads[0]} x {threads[1]} x {threads[2]} threads; {spec.name} allows {spec.max_threads_per_block}"
    if any(t > most for t, most in zip(threads, spec.max_block, strict=True)):
        return f"a block of {threads[0]} x {threads[1]} x {threads[2]} threads; {spec.name} allows {spec.max_block} in its dimensions"
    return ""


# ---------------------------------------------------------------------------------------------------------------- the nest


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
    while (inner := _next(found[-1].body)) is not None:
        found.append(inner[1])
    return tuple(found)


def _next(body: Body) -> tuple[tuple[Stmt, ...], For] | None:
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


def _chain(module: Module, syms: set[Sym]) -> tuple[For, ...] | str:
    """The loops, outermost first, if they are one nest."""
    outer = next(s for s in walk(module.body) if isinstance(s, For) and s.sym in syms)
    found = [outer]
    while len(found) < len(syms):
        inner = _next(found[-1].body)
        if inner is None or inner[1].sym not in syms:
            return f"the body of loop '{found[-1].sym.name}' does not end with the next loop that is bound"
        found.append(inner[1])
    return tuple(found)


def _not_a_thread(module: Module, chain: tuple[For, ...]) -> str:
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


def _dependent(module: Module, chain: tuple[For, ...]) -> str:
    for outer, inner in pairwise(chain):
        between = _next(outer.body)
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


# ---------------------------------------------------------------------------------------------------------------- the plan


@dataclass(frozen=True, slots=True)
class _Counted:
    """A bound loop, the definitions of the host that its count needs, and a name for that count."""

    bound: BoundLoop
    count: Let


@dataclass(frozen=True, slots=True)
class _Plan:
    """A launch under way: the nest, its loops as they are counted (outermost first), the axes."""

    chain: tuple[For, ...]
    counted: tuple[_Counted, ...]
    axes: tuple[AxisPlan, ...]
    captured: tuple[Let, ...]
    reads: dict[Sym, Expr]

    def launched(self, module: Module) -> Body:
        """The statements that take the place of the nest."""
        kinds = {x.loop.sym: plan.kind for plan in self.axes for x in plan.loops}
        bound = {c.bound.loop.sym: c.bound for c in self.counted}
        kernel = _kernel(self.chain[0], bound, kinds)
        grids = [plan.named_blocks() for plan in self.axes]
        for plan, (_, grid) in zip(self.axes, grids, strict=True):
            kernel = plan.around(kernel, grid)
        kernel = _in_thread(kernel, any(plan.strided for plan in self.axes))
        kernel = rewrite_exprs(kernel, lambda e: self.reads.get(e.buf, e) if isinstance(e, Load) and not e.index else e)
        nest = bound_nest(self.axes, tuple(g for _, g in grids), kernel)
        body: Body = (*self.captured, *(s for lets, _ in grids for s in lets), Launch(_kernel_name(module), nest, self.chain[0].loc))
        for c in reversed(self.counted):
            known = int_value(c.count.value)
            if known is not None:
                continue
            body = (c.count, If(Binary("gt", Var(c.count.sym, DType.I64), const(0, DType.I64)), body))
        return body


def _planned(
    module: Module,
    spec: DeviceSpec,
    chain: tuple[For, ...],
    parts: tuple[tuple[For | None, ...], ...],
    threads: tuple[int, int, int],
) -> _Plan | str:
    env = env_at(module, chain[0])
    counted: dict[Sym, _Counted] = {}
    for x in chain:
        found = _count(module, chain, x, env)
        if isinstance(found, str):
            return found
        counted[x.sym] = found
        if int_value(found.count.value) is None:
            env = env.with_let(found.count).with_fact(Binary("gt", Var(found.count.sym, DType.I64), const(0, DType.I64)))
        elif (int_value(found.count.value) or 0) <= 0:
            return f"loop '{x.sym.name}' does not run at all"
    axes = []
    for letter, count, part, limit in zip(LETTERS, threads, parts, spec.max_grid, strict=True):
        bound = tuple(counted[x.sym].bound for x in chain if any(x is p for p in part))
        if [x.sym for x in part if x is not None] != [b.loop.sym for b in bound]:
            return f"the loops of {letter} are not named outermost first"
        axes.append(AxisPlan.of(letter, count, bound, limit, env))
    outside = _captured(module, chain)
    if isinstance(outside, str):
        return outside
    return _Plan(chain, tuple(counted[x.sym] for x in chain), tuple(axes), *outside)


def _count(module: Module, chain: tuple[For, ...], x: For, env: Env) -> _Counted | str:
    """The number of iterations of a loop of the nest as the host knows it; ``env`` holds before the nest."""
    step = int_value(x.step) or 1
    inside = {c.sym for c in chain} | {s.sym for s in walk(chain[0].body) if isinstance(s, Let)}
    wide = DType.I64
    exact = x is chain[0] or not _mentions((x.lo, x.hi), inside)
    if x is not chain[0] and any(isinstance(e, Load) for b in (x.lo, x.hi) for e in walk_expr(b)):
        return f"the bounds of loop '{x.sym.name}' are loaded from memory"
    if x is not chain[0] and not is_harmless(x.lo, x.hi):
        return f"the bounds of loop '{x.sym.name}' may have no value before the launch"
    if exact:
        lo, hi = cast(x.lo, wide), cast(x.hi, wide)
        span = hi if int_value(lo) == 0 else sub(hi, lo)
    else:
        here = env_at(module, x)
        most = here.upper(here.normal(x.hi) - here.normal(x.lo))
        atoms = tuple(most.atoms())
        if _mentions(atoms, inside) or not is_harmless(*atoms) or any(isinstance(e, Load) for a in atoms for e in walk_expr(a)):
            highest = here.bounds(most).hi
            if highest is None or highest > DType.I32.max_int:
                return f"the bounds of loop '{x.sym.name}' are not known before the launch"
            most = const_poly(highest)
        span = to_expr(most)
    literal = env.normal(span).constant
    if literal is not None:
        value: Expr = const(-(-literal // step), wide)
    else:
        value = span if step == 1 else Binary("div", add(span, const(step - 1, wide)), const(step, wide))
    let = Let(Sym(f"{x.sym.name}.count"), value)
    count = value if literal is not None else Var(let.sym, wide)
    return _Counted(BoundLoop(x, count, exact, step, x.sym.fresh(f"{x.sym.name}.number")), let)


def _mentions(exprs: tuple[Expr, ...], syms: set[Sym]) -> bool:
    return any(isinstance(e, Var) and e.sym in syms for x in exprs for e in walk_expr(x))


def _captured(module: Module, chain: tuple[For, ...]) -> tuple[tuple[Let, ...], dict[Sym, Expr]] | str:
    """Mutable scalars of the host that the nest reads: their values before the launch."""
    own = {s.sym for s in walk(chain[0].body) if isinstance(s, Alloc)}
    outer = {s.sym: s for s in walk(module.body) if isinstance(s, Alloc) and s.sym not in own and not s.shape}
    exprs = (*all_exprs(chain[0].body), *walk_expr(chain[0].lo))
    used = {e.buf: e for e in exprs if isinstance(e, Load) and e.buf in outer}
    lets: list[Let] = []
    values: dict[Sym, Expr] = {}
    for buf, load in sorted(used.items(), key=lambda item: item[0].uid):
        if isinstance(outer[buf].dtype, Vec) or not written_before(module, outer[buf], chain[0]):
            return f"'{buf.name}' may have no value before the launch"
        let = Let(buf.fresh(f"{buf.name}.value"), load)
        lets.append(let)
        values[buf] = Var(let.sym, load.type)
    return tuple(lets), values


# -------------------------------------------------------------------------------------------------------------- the kernel


def _kernel(loop: For, bound: dict[Sym, BoundLoop], kinds: dict[Sym, DType]) -> Body:
    """The body of the innermost bound loop with what stands around it, each loop replaced by its variable's definition."""
    return bound[loop.sym].entered(_inside(loop.body, bound, kinds), kinds[loop.sym])


def _inside(body: Body, bound: dict[Sym, BoundLoop], kinds: dict[Sym, DType]) -> Body:
    last = body[-1] if body else None
    if isinstance(last, For) and last.sym in bound:
        return (*body[:-1], *_kernel(last, bound, kinds))
    if isinstance(last, If) and any(isinstance(s, For) and s.sym in bound for s in walk(last.then)):
        return (*body[:-1], dataclasses.replace(last, then=_inside(last.then, bound, kinds)))
    return body


def _in_thread(body: Body, strided: bool) -> Body:
    """Code of one thread: loops are ordinary ones, memory is local, and the end of an iteration ends the thread."""

    def one(s: Stmt, own: bool) -> Stmt:
        match s:
            case Continue() if own and not strided:
                return Return(s.loc)
            case Alloc():
                return dataclasses.replace(s, space=Space.LOCAL)
            case For() if s.axis is not None:
                s = dataclasses.replace(s, axis=None)
        inner = own and not isinstance(s, For | While)
        return with_bodies(s, tuple(tuple(one(t, inner) for t in b) for b in bodies(s)))

    return tuple(one(s, True) for s in body)


def _kernel_name(module: Module) -> str:
    taken = {s.kernel for s in walk(module.body) if isinstance(s, Launch)}
    name, number = f"{module.name}_kernel", 1
    while name in taken:
        number += 1
        name = f"{module.name}_kernel{number}"
    return name
