"""``loop_split``: one loop becomes two, for tiling."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.dependence import bounds_change
from synth.analysis.linear import Env, env_at
from synth.analysis.ranges import Range
from synth.errors import IllegalPassError
from synth.ir.builder import const, int_value
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Body, Break, Continue, Expr, For, If, Let, Module, Stmt, Sym, Var
from synth.ir.traversal import bodies, find_loop, loops, refresh, replace_stmt, walk
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

FACTORS = (8, 16, 32, 64)
TAILS = ("bound", "guard", "loop")


@dataclass(frozen=True, slots=True)
class LoopSplit:
    """Splits a loop by a factor. Where the factor does not divide, the last tile is shorter (``tail=bound``), its excess iterations are
    skipped
    (``tail=guard``), or the rest runs in a loop of its own (``tail=loop``).

    Before: ``for i in 0..n { S(i) }``
    After:  ``for i.outer in 0..(n + f - 1) / f { for i.inner in 0..min(f, n - i.outer * f) { let i = i.outer * f + i.inner; S(i) } }``
    """

    name: ClassVar[str] = "loop_split"
    site: str
    factor: int
    tail: str = "bound"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Serial loops longer than a factor."""
        found = []
        for site, loop in loops(module).items():
            if loop.axis is None and int_value(loop.step) == 1:
                lo, hi = int_value(loop.lo), int_value(loop.hi)
                count = hi - lo if lo is not None and hi is not None else None
                found += [cls(site, f) for f in FACTORS if count is None or count > f]
        return tuple(found)

    # The iterations of the two loops (and of the rest), in their order, are those of the one: lo + i.outer * f + i.inner with 0 <= i.inner
    # < f runs over lo..hi without gaps. Nothing overflows: the count plus a factor fits the type.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        loop = find_loop(module, self.site)
        if loop is None:
            return Illegal(f"there is no loop '{self.site}'", self.site)
        if loop.axis is not None or int_value(loop.step) != 1:
            return Illegal(f"loop '{self.site}' is not a serial loop with step one", self.site)
        if self.factor < 2 or self.factor > loop.dtype.max_int:
            return Illegal(f"{self.factor} is no factor to split by", self.site)
        if self.tail not in TAILS:
            return Illegal(f"'{self.tail}' is no way to end; there are {', '.join(TAILS)}", self.site)
        if breaks(loop.body):
            return Illegal(f"loop '{self.site}' is left by break", self.site)
        if bounds_change(loop):
            return Illegal(f"the bounds of loop '{self.site}' are loaded from memory that its body writes", self.site)
        env = env_at(module, loop)
        count = env.bounds(env.normal(loop.hi) - env.normal(loop.lo))
        if not Range(count.lo, None if count.hi is None else count.hi + self.factor).within(loop.dtype):
            wide = loop.dtype.is_signed_int and int_value(loop.lo) == 0 and self.factor <= 1 << 20
            if not wide:
                return Illegal(f"the count of loop '{self.site}' is not known to fit {loop.dtype}", self.site)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        loop = find_loop(module, self.site)
        if loop is None:
            raise IllegalPassError(f"loop_split: there is no loop '{self.site}'")
        env = env_at(module, loop)
        return dataclasses.replace(module, body=replace_stmt(module.body, loop, _split(loop, self.factor, self.tail, env)))


def _split(loop: For, factor: int, tail: str, env: Env) -> Body:
    outer, inner = _named(loop, factor, "div", "outer"), _named(loop, factor, "mod", "inner")
    zero, one, width = (const(v, loop.dtype) for v in (0, 1, factor))
    starts_at_zero = int_value(loop.lo) == 0
    count = loop.hi if starts_at_zero else Binary("sub", loop.hi, loop.lo)
    start = Binary("mul", Var(outer, loop.dtype), width)
    offset = Binary("add", start, Var(inner, loop.dtype))
    index = Let(loop.sym, offset if starts_at_zero else Binary("add", loop.lo, offset))
    span = env.normal(count)
    whole = all(c % factor == 0 for c in span.terms.values())
    full = Binary("div", count, width)
    tiles = full if whole or tail == "loop" else Binary("div", _rounded_up(count, factor, loop.dtype), width)
    if whole or tail == "loop":
        tile = For(inner, loop.dtype, zero, width, one, (index, *loop.body), None, loop.loc)
    elif tail == "bound":
        left = Binary("min", width, Binary("sub", count, start))
        tile = For(inner, loop.dtype, zero, left, one, (index, *loop.body), None, loop.loc)
    else:
        guarded = If(Binary("lt", offset, count), loop.body)
        tile = For(inner, loop.dtype, zero, width, one, (index, guarded), None, loop.loc)
    tiled = For(outer, loop.dtype, zero, tiles, one, (tile,), None, loop.loc)
    if whole or tail != "loop":
        return (tiled,)
    begin = Binary("mul", Binary("div", Binary("max", count, zero), width), width)
    rest = dataclasses.replace(loop, lo=begin if starts_at_zero else Binary("add", loop.lo, begin))
    return (tiled, *refresh((rest,)))


def _named(loop: For, factor: int, op: str, part: str) -> Sym:
    """The name that the program gives to the quotient or the remainder, else one that says what it is."""
    for s in walk(loop.body):
        if isinstance(s, Let) and s.value == Binary(op, Var(loop.sym, loop.dtype), const(factor, loop.dtype)):
            return s.sym.fresh()
    return loop.sym.fresh(f"{loop.sym.name.removesuffix(f'.{part}')}.{part}")


def _rounded_up(count: Expr, factor: int, dtype: DType) -> Expr:
    return Binary("add", count, const(factor - 1, dtype))


def breaks(body: Body) -> bool:
    """Whether a ``break`` in a body leaves the loop around it."""
    return _has(body, Break)


def continues(body: Body) -> bool:
    """Whether a ``continue`` in a body ends an iteration of the loop around it."""
    return _has(body, Continue)


def _has(body: Body, kind: type[Stmt]) -> bool:
    return any(isinstance(s, kind) or (isinstance(s, If) and any(_has(b, kind) for b in bodies(s))) for s in body)
