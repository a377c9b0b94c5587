"""Hypothesis strategy for loop nests as kernels have them: affine accesses, block and thread loops with guards, flat indexes that are
divided, private accumulators, inner reductions, bounds that depend on outer loops. Everything stays in bounds for ``n, m`` up to
``LARGEST``."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from synth.ir.builder import cast, const, i32
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Math,
    Module,
    Param,
    Role,
    Select,
    Space,
    Stmt,
    Store,
    Sym,
    Var,
)

LARGEST = 21
SIZE = 4096
N, M = Sym("n"), Sym("m")
_BOUNDS = st.sampled_from((1, 2, 3, 5, 8, 16, 17))


@dataclass
class _Draw:
    """One program being drawn."""

    draw: st.DrawFn
    element: DType
    inputs: tuple[Sym, Sym]
    output: Sym
    indexes: list[Expr] = field(default_factory=list)
    values: list[Expr] = field(default_factory=list)

    def pick(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    # ------------------------------------------------------------------------------------------------------- indexes

    def index(self) -> Expr:
        """A sum of loop variables with strides; below ``SIZE`` because a sum over at most four of them with these strides is."""
        total: Expr = i32(self.draw(st.integers(0, 3)))
        for number, x in enumerate(self.indexes[-3:]):
            stride = self.draw(st.sampled_from((0, 1, 1, 2, 23, 40, -1)))
            if stride < 0:
                total = Binary("sub", Binary("add", total, i32(64)), x)
            elif stride:
                term = Binary("mul", x, i32(stride)) if stride > 1 else x
                total = Binary("add", term, total) if number % 2 else Binary("add", total, term)
        return total

    def own_index(self) -> Expr:
        """An index that tells iterations apart, or not."""
        if self.pick("distinct", "distinct", "any") == "any" or not self.indexes:
            return self.index()
        total: Expr = i32(0)
        for x, stride in zip(reversed(self.indexes[-3:]), (1, 23, 529), strict=False):
            total = Binary("add", Binary("mul", x, i32(stride)), total)
        return Binary("mod", total, i32(SIZE)) if len(self.indexes) > 2 else total

    # -------------------------------------------------------------------------------------------------------- values

    def value(self, depth: int = 2) -> Expr:
        kind = self.pick("load", "load", "load", "const", "value", "index", "add", "mul", "max", "select")
        if depth == 0 or kind in ("load", "const", "value", "index"):
            if kind == "value" and self.values:
                return self.draw(st.sampled_from(self.values))
            if kind == "index" and self.indexes:
                return cast(self.draw(st.sampled_from(self.indexes)), self.element)
            if kind == "const":
                return const(self.draw(st.integers(-3, 3)), self.element)
            return Load(self.draw(st.sampled_from(self.inputs)), (self.index(),), self.element)
        if kind == "select":
            return Select(self.condition(), self.value(depth - 1), self.value(depth - 1))
        if kind == "mul" and self.element.is_float and self.draw(st.booleans()):
            return Math("abs", (self.value(depth - 1),), self.element)
        return Binary(kind, self.value(depth - 1), self.value(depth - 1))

    def condition(self) -> Expr:
        if self.indexes and self.draw(st.booleans()):
            left: Expr = self.draw(st.sampled_from(self.indexes))
            right: Expr = self.draw(st.sampled_from((i32(3), i32(9), Var(N, DType.I32), Var(M, DType.I32))))
            return Binary(self.pick("lt", "le", "gt", "ne"), left, right)
        return Binary(self.pick("lt", "gt"), self.value(0), self.value(0))

    # ---------------------------------------------------------------------------------------------------- statements

    def bound(self) -> Expr:
        kind = self.pick("literal", "literal", "n", "m", "outer", "shorter", "loaded")
        if kind == "shorter":
            return Binary("sub", Var(N, DType.I32), i32(5))
        if kind == "loaded" and self.element is DType.I32:
            # What the program writes may change under the loop, and may be negative.
            return Binary("min", Load(self.draw(st.sampled_from((*self.inputs, self.output))), (i32(2),), self.element), i32(5))
        if kind == "outer" and self.indexes:
            return Binary("min", Binary("add", self.indexes[-1], i32(1)), i32(self.draw(_BOUNDS)))
        return {"n": Var(N, DType.I32), "m": Var(M, DType.I32)}.get(kind, i32(self.draw(_BOUNDS)))

    def loop(self, name: str, hi: Expr, body: list[Stmt], x: Sym | None = None) -> For:
        return For(x or Sym(name), DType.I32, i32(0), hi, i32(1), tuple(body))

    def counted(self, x: Sym, hi: Expr, body: list[Stmt]) -> For:
        """A loop that may start above 0 and take longer steps."""
        lo, step = self.draw(st.sampled_from(((0, 1), (0, 1), (0, 1), (2, 1), (0, 3))))
        return For(x, DType.I32, i32(lo), hi, i32(step), tuple(body))

    def nest(self, depth: int) -> list[Stmt]:
        kind = self.pick("loop", "loop", "loop", "blocks", "flat") if depth else "leaf"
        saved = len(self.indexes), len(self.values)
        if kind == "leaf":
            out = self.leaf()
        elif kind == "loop":
            x = Sym(self.pick("i", "j", "row"))
            hi = self.bound()
            self.indexes.append(Var(x, DType.I32))
            out = [self.counted(x, hi, self.nest(depth - 1))]
        elif kind == "blocks":
            out = self.blocks(depth)
        else:
            out = self.flat(depth)
        del self.indexes[saved[0] :], self.values[saved[1] :]
        return out

    def blocks(self, depth: int) -> list[Stmt]:
        b, t, width = Sym("bx"), Sym("tx"), self.draw(st.sampled_from((4, 8)))
        limit = Var(N, DType.I32) if self.draw(st.booleans()) else i32(self.draw(_BOUNDS))
        i = Let(Sym("col"), Binary("add", Binary("mul", Var(b, DType.I32), i32(width)), Var(t, DType.I32)))
        self.indexes.append(Var(i.sym, DType.I32))
        body: list[Stmt] = [i, If(Binary("lt", Var(i.sym, DType.I32), limit), tuple(self.nest(depth - 1)))]
        grid = Binary("div", Binary("add", limit, i32(width - 1)), i32(width))
        return [self.loop("", grid, [self.loop("", i32(width), body, t)], b)]

    def flat(self, depth: int) -> list[Stmt]:
        idx, d, rows = Sym("idx"), self.draw(st.sampled_from((3, 5))), self.draw(st.sampled_from((1, 2, 4)))
        x = Var(idx, DType.I32)
        c, r = Let(Sym("c"), Binary("mod", x, i32(d))), Let(Sym("r"), Binary("div", x, i32(d)))
        self.indexes += [Var(r.sym, DType.I32), Var(c.sym, DType.I32)]
        return [self.loop("", i32(d * rows), [c, r, *self.nest(depth - 1)], idx)]

    def leaf(self) -> list[Stmt]:
        out: list[Stmt] = []
        if self.indexes and self.draw(st.integers(0, 7)) == 0:
            out.append(If(self.condition(), (Continue(),)))
        for _ in range(self.draw(st.integers(1, 2))):
            kind = self.pick("store", "store", "let", "reduce", "if", "array", "far")
            if kind == "let":
                let = Let(Sym("v"), self.value())
                out.append(let)
                self.values.append(Var(let.sym, self.element))
            elif kind == "reduce":
                out += self.reduction()
            elif kind == "array":
                out += self.array()
            elif kind == "far":
                out.append(self.far())
            elif kind == "if":
                out.append(If(self.condition(), (self.store(),), (self.store(),) if self.draw(st.booleans()) else ()))
            else:
                out.append(self.store())
        return [*out, self.store()]

    def far(self) -> If:
        """Loads that are in bounds only under their condition: at an index all iterations share, or at one that is loaded."""
        n = Var(N, DType.I32)
        x = self.indexes[-1] if self.indexes else i32(0)
        shared = Load(self.inputs[0], (Binary("sub", n, i32(1)),), self.element)
        if self.element is DType.I32 and self.draw(st.booleans()):
            near = Binary("lt", Binary("mul", x, i32(SIZE // 8)), i32(SIZE))
            j = Let(Sym("j"), Load(self.inputs[1], (Binary("mul", x, i32(SIZE // 8)),), self.element))
            value = Binary("add", Load(self.inputs[0], (Var(j.sym, DType.I32),), self.element), Var(j.sym, DType.I32))
            return If(near, (j, Store(self.output, (self.own_index(),), value)))
        return If(Binary("lt", x, n), (Store(self.output, (self.own_index(),), shared),))

    def store(self) -> Store:
        index = self.own_index()
        value = self.value()
        if self.draw(st.integers(0, 3)) == 0:
            value = Binary("add", Load(self.output, (index,), self.element), value)
        return Store(self.output, (index,), value)

    def reduction(self) -> list[Stmt]:
        acc, k, op = Sym("acc"), Sym("k"), self.pick("add", "max", "min")
        hi = self.bound()
        own = Load(acc, (), self.element)
        self.indexes.append(Var(k, DType.I32))
        term = self.value()
        step: Stmt = Store(acc, (), Binary(op, own, term))
        if self.draw(st.integers(0, 3)) == 0:
            step = If(self.condition(), (step,))
        self.indexes.pop()
        self.values.append(own)
        return [
            Alloc(acc, self.element, (), Space.LOCAL),
            Store(acc, (), const(0, self.element)),
            For(k, DType.I32, i32(0), hi, i32(1), (step,)),
        ]

    def array(self) -> list[Stmt]:
        x, l = Sym("x"), Sym("l")
        width = i32(4)
        self.indexes.append(Var(l, DType.I32))
        fill = For(l, DType.I32, i32(0), width, i32(1), (Store(x, (Var(l, DType.I32),), self.value()),))
        self.indexes.pop()
        self.values.append(Load(x, (i32(self.draw(st.integers(0, 3))),), self.element))
        return [Alloc(x, self.element, (width,), Space.LOCAL), fill]


@st.composite
def nests(draw: st.DrawFn) -> Module:
    """A serial program of one or two nests."""
    element = draw(st.sampled_from((DType.F32, DType.F32, DType.F32, DType.I32, DType.F64)))
    a, b, c = Sym("A"), Sym("B"), Sym("C")
    drawing = _Draw(draw, element, (a, b), c)
    body: list[Stmt] = []
    for _ in range(draw(st.integers(1, 2))):
        body += drawing.nest(draw(st.integers(1, 3)))
    size = (const(SIZE, DType.I64),)
    params = (
        Param(a, element, size, Space.HOST, Role.IN, True),
        Param(b, element, size, Space.HOST, Role.IN, True),
        Param(c, element, size, Space.HOST, Role.INOUT),
        Param(N, DType.I32),
        Param(M, DType.I32),
    )
    return Module("entry", params, tuple(body))
