"""The index arithmetic of a launch that is made from loops: how many blocks an axis has, and what its threads' loop variables are.

An axis holds one or more loops of a nest, collapsed, the innermost fastest. Its threads count ``g = block * T + thread`` from 0; a thread
with ``g`` below the product of the counts runs the iteration that ``g`` names, others run none. Where the number of blocks is not known to
be allowed, threads go on in strides of the whole grid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from synth.analysis.env import Env
from synth.analysis.polynomial import const_poly
from synth.ir.builder import add, cast, const, int_value, mul
from synth.ir.dtypes import DType
from synth.ir.grammar import Axis, Binary, Body, Expr, For, If, Let, Stmt, Sym, Var

U32 = DType.U32


@dataclass(frozen=True, slots=True)
class BoundLoop:
    """A loop that is bound: ``count`` is the number of its iterations (an upper bound of it where ``exact`` is False), an i64 value that
    the host knows before the launch; ``step`` is its step, a literal; ``digit`` names the number of an iteration."""

    loop: For
    count: Expr
    exact: bool
    step: int
    digit: Sym

    @property
    def is_plain(self) -> bool:
        """Whether the loop variable is the number of the iteration."""
        return self.exact and self.step == 1 and int_value(self.loop.lo) == 0

    def entered(self, inner: Body, kind: DType) -> Body:
        """The loop's body for the iteration with the number ``digit``, where there is one."""
        if self.is_plain:
            return inner
        wide = DType.I64
        at = add(cast(self.loop.lo, wide), mul(cast(Var(self.digit, kind), wide), const(self.step, wide)))
        let = Let(self.loop.sym, cast(at, self.loop.dtype))
        if self.exact:
            return (let, *inner)
        return (If(Binary("lt", at, cast(self.loop.hi, wide)), (let, *inner)),)


@dataclass(slots=True)
class AxisPlan:
    """One dimension of a launch."""

    letter: str
    threads: int
    loops: tuple[BoundLoop, ...]
    limit: int
    total: Expr = field(default_factory=lambda: const(1, DType.I64))
    kind: DType = U32  # of the arithmetic on g
    strided: bool = False
    tiles: Expr = field(default_factory=lambda: const(1, DType.I64))  # how many blocks there would be without a limit
    blocks: Expr = field(default_factory=lambda: const(1, U32))
    block: Sym = field(default_factory=lambda: Sym("bx"))
    thread: Sym = field(default_factory=lambda: Sym("tx"))

    @classmethod
    def of(cls, letter: str, threads: int, loops: tuple[BoundLoop, ...], limit: int, env: Env) -> AxisPlan:
        """The plan of an axis; ``env`` holds where the host evaluates the counts, all of them positive."""
        plan = cls(letter, threads, loops, limit)
        plan.block, plan.thread = Sym(f"b{letter}"), Sym(f"t{letter}")
        if not loops:
            return plan
        plan.total = reduce(mul, (x.count for x in loops)) if len(loops) > 1 else loops[0].count
        size = reduce(lambda a, b: a * b, (env.normal(x.count) for x in loops), const_poly(1))
        most = env.bounds(size).hi
        literal = size.constant
        plan.strided = most is None or most > limit * threads
        narrow = most is not None and most + threads <= U32.max_int and not plan.strided
        plan.kind = U32 if narrow else DType.I64
        wide = DType.I64
        if literal is not None:
            plan.total, plan.tiles = const(literal, wide), const(-(-literal // threads), wide)
            plan.blocks = const(min(-(-literal // threads), limit), U32)
        else:
            plan.tiles = Binary("div", add(plan.total, const(threads - 1, wide)), const(threads, wide)) if threads > 1 else plan.total
            plan.blocks = cast(Binary("min", plan.tiles, const(limit, wide)) if plan.strided else plan.tiles, U32)
        return plan

    # ------------------------------------------------------------------------------------------------------- the host

    def named_blocks(self) -> tuple[Body, Expr]:
        """What the host computes before the launch, and the number of blocks."""
        if int_value(self.blocks) is not None:
            return (), self.blocks
        grid = Let(Sym(f"grid.{self.letter}"), self.blocks)
        return (grid,), Var(grid.sym, U32)

    # ------------------------------------------------------------------------------------------------------ the kernel

    def around(self, inner: Body, grid: Expr) -> Body:
        """The part of the kernel that gives the loops of this axis their values, for the threads that have some."""
        if not self.loops:
            return inner
        g = Sym(f"g{self.letter}")
        name, total = Var(g, self.kind), cast(self.total, self.kind)
        values = self._values(name)
        # In strides of the grid, all threads of a block go through the same blocks: they may meet on the way.
        tile = Sym(f"{self.letter}.block") if self.strided else self.block
        let = Let(g, self._number(Var(tile, self.kind if self.strided else U32)))
        whole = int_value(self.total)
        if self.threads == 1 or (whole is not None and whole % self.threads == 0):
            body: Body = (let, *values, *inner)
        else:
            body = (let, If(Binary("lt", name, total), (*values, *inner)))
        if not self.strided:
            return body
        first, step = cast(Var(self.block, U32), self.kind), cast(grid, self.kind)
        return (For(tile, self.kind, first, cast(self.tiles, self.kind), step, body),)

    def _number(self, number: Var) -> Expr:
        block, thread = cast(number, self.kind), cast(Var(self.thread, U32), self.kind)
        if self.threads == 1:
            return block
        return add(mul(block, const(self.threads, self.kind)), thread)

    def _values(self, g: Expr) -> Body:
        """Definitions of the iterations' numbers from g: the digits of a number of mixed radix. Where that number is the value of the loop
        variable, it gets its name."""
        found: list[Stmt] = []
        rest = g
        for position in range(len(self.loops) - 1, -1, -1):
            x = self.loops[position]
            radix = cast(x.count, self.kind)
            digit = rest if position == 0 else Binary("mod", rest, radix)
            rest = Binary("div", rest, radix)
            found.append(Let(x.loop.sym, cast(digit, x.loop.dtype)) if x.is_plain else Let(x.digit, digit))
        return tuple(found)


def bound_nest(axes: tuple[AxisPlan, ...], grids: tuple[Expr, ...], kernel: Body, shared: Body = (), width: int = 1) -> Body:
    """The six loops of a launch; ``axes`` are those of x, y and z. Each thread of x is ``width`` threads."""
    one, zero = const(1, U32), const(0, U32)

    def nest(part: str, body: Body) -> Body:
        for plan, grid in zip(axes, grids, strict=True):
            each = width if plan.letter == "x" else 1
            sym, hi = (plan.block, grid) if part == "block" else (plan.thread, const(plan.threads * each, U32))
            body = (For(sym, U32, zero, hi, one, body, Axis(f"{part}.{plan.letter}")),)
        return body

    return nest("block", (*shared, *nest("thread", kernel)))
