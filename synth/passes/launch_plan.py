"""From a nest of loops to the statements that launch it: counts that the host computes, the grid, the code of a thread."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from synth.analysis.assignment import written_before
from synth.analysis.env import Env
from synth.analysis.linear import env_at, to_expr
from synth.analysis.polynomial import const_poly
from synth.analysis.speculation import is_harmless
from synth.ir.builder import add, cast, const, int_value, sub
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
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
    rewrite_exprs,
    walk,
    walk_expr,
    with_bodies,
)
from synth.passes.launch_shape import AxisPlan, BoundLoop, bound_nest
from synth.spec import DeviceSpec

LETTERS = ("x", "y", "z")


def threads_problem(threads: tuple[int, int, int], spec: DeviceSpec) -> str:
    if spec.max_threads_per_block <= 1:
        return f"{spec.name} has no blocks of threads"
    if min(threads) < 1 or threads[0] * threads[1] * threads[2] > spec.max_threads_per_block:
        return f"a block of {threads[0]} x {threads[1]} x {threads[2]} threads; {spec.name} allows {spec.max_threads_per_block}"
    if any(t > most for t, most in zip(threads, spec.max_block, strict=True)):
        return f"a block of {threads[0]} x {threads[1]} x {threads[2]} threads; {spec.name} allows {spec.max_block} in its dimensions"
    return ""


@dataclass(frozen=True, slots=True)
class Counted:
    """A bound loop, the definitions of the host that its count needs, and a name for that count."""

    bound: BoundLoop
    count: Let


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """A launch under way: the nest, its loops as they are counted (outermost first), the axes."""

    chain: tuple[For, ...]
    counted: tuple[Counted, ...]
    axes: tuple[AxisPlan, ...]
    captured: tuple[Let, ...]
    reads: dict[Sym, Expr]

    def launched(self, module: Module, inside: Callable[[Body], Body] = tuple, shared: Body = (), width: int = 1) -> Body:
        """The statements that take the place of the nest. ``inside`` makes the code of a thread of the body of the innermost loop;
        ``shared`` is the block's memory; ``width`` is the number of threads of a block that run one and the same iteration of x."""
        kinds = {x.loop.sym: plan.kind for plan in self.axes for x in plan.loops}
        bound = {c.bound.loop.sym: c.bound for c in self.counted}
        kernel = _kernel(self.chain[0], bound, kinds, inside)
        grids = [plan.named_blocks() for plan in self.axes]
        for plan, (_, grid) in zip(self.axes, grids, strict=True):
            kernel = plan.around(kernel, grid)
        kernel = in_thread(kernel, any(plan.strided for plan in self.axes))
        nest = bound_nest(self.axes, tuple(g for _, g in grids), with_values(kernel, self.reads), shared, width)
        body: Body = (*self.captured, *(s for lets, _ in grids for s in lets), Launch(kernel_name(module), nest, self.chain[0].loc))
        for c in reversed(self.counted):
            known = int_value(c.count.value)
            if known is not None:
                continue
            body = (c.count, If(Binary("gt", Var(c.count.sym, DType.I64), const(0, DType.I64)), body))
        return body


def with_values(body: Body, reads: Mapping[Sym, Expr]) -> Body:
    """Loads of mutable scalars replaced by values."""
    return rewrite_exprs(body, lambda e: reads.get(e.buf, e) if isinstance(e, Load) and not e.index else e)


def planned(
    module: Module,
    spec: DeviceSpec,
    chain: tuple[For, ...],
    parts: tuple[tuple[For | None, ...], ...],
    threads: tuple[int, int, int],
) -> LaunchPlan | str:
    env = env_at(module, chain[0])
    counted: dict[Sym, Counted] = {}
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
    outside = captured(module, chain[0])
    if isinstance(outside, str):
        return outside
    return LaunchPlan(chain, tuple(counted[x.sym] for x in chain), tuple(axes), *outside)


def _count(module: Module, chain: tuple[For, ...], x: For, env: Env) -> Counted | str:
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
    return Counted(BoundLoop(x, count, exact, step, x.sym.fresh(f"{x.sym.name}.number")), let)


def _mentions(exprs: tuple[Expr, ...], syms: set[Sym]) -> bool:
    return any(isinstance(e, Var) and e.sym in syms for x in exprs for e in walk_expr(x))


def captured(module: Module, target: For) -> tuple[tuple[Let, ...], dict[Sym, Expr]] | str:
    """Mutable scalars of the host that a loop reads: their values before the launch."""
    own = {s.sym for s in walk(target.body) if isinstance(s, Alloc)}
    outer = {s.sym: s for s in walk(module.body) if isinstance(s, Alloc) and s.sym not in own and not s.shape}
    used = {e.buf: e for e in all_exprs((target,)) if isinstance(e, Load) and e.buf in outer}
    lets: list[Let] = []
    values: dict[Sym, Expr] = {}
    for buf, load in sorted(used.items(), key=lambda item: item[0].uid):
        if isinstance(outer[buf].dtype, Vec) or not written_before(module, outer[buf], target):
            return f"'{buf.name}' may have no value before the launch"
        let = Let(buf.fresh(f"{buf.name}.value"), load)
        lets.append(let)
        values[buf] = Var(let.sym, load.type)
    return tuple(lets), values


def _kernel(loop: For, bound: dict[Sym, BoundLoop], kinds: dict[Sym, DType], inside: Callable[[Body], Body]) -> Body:
    """The body of the innermost bound loop with what stands around it, each loop replaced by its variable's definition."""
    return bound[loop.sym].entered(_within(loop.body, bound, kinds, inside), kinds[loop.sym])


def _within(body: Body, bound: dict[Sym, BoundLoop], kinds: dict[Sym, DType], inside: Callable[[Body], Body]) -> Body:
    last = body[-1] if body else None
    if isinstance(last, For) and last.sym in bound:
        return (*body[:-1], *_kernel(last, bound, kinds, inside))
    if isinstance(last, If) and any(isinstance(s, For) and s.sym in bound for s in walk(last.then)):
        return (*body[:-1], dataclasses.replace(last, then=_within(last.then, bound, kinds, inside)))
    return inside(body)


def in_thread(body: Body, strided: bool) -> Body:
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


def kernel_name(module: Module) -> str:
    taken = {s.kernel for s in walk(module.body) if isinstance(s, Launch)}
    name, number = f"{module.name}_kernel", 1
    while name in taken:
        number += 1
        name = f"{module.name}_kernel{number}"
    return name
