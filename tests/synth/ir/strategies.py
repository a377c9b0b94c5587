"""Hypothesis strategies for small well-formed modules that run without error, and arguments for them.

``modules()`` draws serial programs: loops with small constant or symbolic bounds, conditions, mutable scalars, small arrays, arithmetic of
several types, and with ``vectors=True`` also 4 to 16 lane vector statements. Indexes stay in bounds, everything is written before it is
read, divisors and shift counts are harmless; so the interpreter gives every drawn module a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from synth.ir.builder import const
from synth.ir.dtypes import DType, Vec, scalar
from synth.ir.grammar import (
    Alloc,
    Binary,
    Bitcast,
    Broadcast,
    Cast,
    Const,
    Expr,
    For,
    If,
    Lane,
    Let,
    Load,
    MakeVec,
    Math,
    Module,
    Param,
    Reduce,
    Role,
    Select,
    Space,
    Stmt,
    Store,
    Sym,
    Unary,
    Var,
    While,
)

BUFFER_SIZE = 16
INTS = (DType.I32, DType.U32, DType.I64, DType.U8, DType.I16)
FLOATS = (DType.F32, DType.F64)
NAMES = ("i", "i.outer", "x", "acc", "A.shared", "for", "i_outer", "f32")


@dataclass
class Scope:
    """What may be read here: values by type, buffers by element type and shape; ``indexes`` are i32 expressions below BUFFER_SIZE."""

    values: list[Var] = field(default_factory=list)
    buffers: list[tuple[Sym, DType, tuple[int, ...], bool]] = field(default_factory=list)
    indexes: list[Expr] = field(default_factory=list)

    def child(self) -> Scope:
        return Scope(list(self.values), list(self.buffers), list(self.indexes))


@st.composite
def modules(draw: st.DrawFn, vectors: bool = False, floats: bool = True) -> Module:
    """A module ``f`` with two or three flat buffers of BUFFER_SIZE elements and a scalar ``n`` in 0..BUFFER_SIZE."""
    dtypes = draw(st.lists(st.sampled_from((*INTS[:4], *(FLOATS if floats else ()))), min_size=2, max_size=3))
    n = Sym("n")
    params = [
        Param(Sym(name), dtype, (const(BUFFER_SIZE, DType.I64),), Space.HOST, Role.IN if k == 0 else Role.INOUT, k == 0)
        for k, (name, dtype) in enumerate(zip("abc", dtypes, strict=False))
    ]
    scope = Scope([Var(n, DType.I32)], [(p.sym, p.dtype, (BUFFER_SIZE,), not p.const) for p in params])
    scope.indexes = [const(k, DType.I32) for k in (0, 3, BUFFER_SIZE - 1)]
    generator = _Generator(draw, vectors, floats)
    body = generator.body(scope, depth=0)
    # At least one write that can be seen.
    body += (generator.store_to(params[-1].sym, params[-1].dtype, (BUFFER_SIZE,), scope),)
    return Module("f", (*params, Param(n, DType.I32)), body)


def arguments(module: Module, seed: int) -> dict[str, Any]:
    """Random arguments for a drawn module, reproducible by seed."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for p in module.params:
        if not p.is_buffer:
            found[p.sym.name] = int(rng.integers(0, BUFFER_SIZE + 1))
        elif p.dtype.is_float:
            found[p.sym.name] = rng.uniform(-2, 2, BUFFER_SIZE).astype(np.float32 if p.dtype is DType.F32 else np.float64)
        else:
            name = {"i": "int", "u": "uint"}[p.dtype.value[0]] + str(p.dtype.bits)
            found[p.sym.name] = rng.integers(0 if name[0] == "u" else -100, 100, BUFFER_SIZE).astype(name)
    return found


def copied(args: dict[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}


@dataclass
class _Generator:
    draw: st.DrawFn
    vectors: bool
    floats: bool
    statements: int = 0

    def name(self) -> Sym:
        return Sym(self.draw(st.sampled_from(NAMES)))

    def dtype(self) -> DType:
        return self.draw(st.sampled_from((*INTS, *FLOATS) if self.floats else INTS))

    # -------------------------------------------------------------------------------------------------- statements

    def body(self, scope: Scope, depth: int) -> tuple[Stmt, ...]:
        scope = scope.child()
        out: list[Stmt] = []
        for _ in range(self.draw(st.integers(1, 3))):
            self.statements += 1
            kinds = ["let", "store", "array", "scalar"] + (["for", "if", "while"] if depth < 2 and self.statements < 12 else [])
            kinds += ["vector", "vector"] if self.vectors else []
            out += getattr(self, "_" + self.draw(st.sampled_from(kinds)))(scope, depth)
        return tuple(out)

    def _let(self, scope: Scope, depth: int) -> list[Stmt]:
        value = self.expr(self.dtype(), scope, 2)
        sym = self.name()
        scope.values.append(Var(sym, value.type))
        return [Let(sym, value)]

    def _scalar(self, scope: Scope, depth: int) -> list[Stmt]:
        sym, dtype = self.name(), self.dtype()
        value = self.expr(dtype, scope, 2)
        scope.buffers.append((sym, dtype, (), True))
        return [Alloc(sym, dtype, (), Space.LOCAL), Store(sym, (), value)]

    def _array(self, scope: Scope, depth: int) -> list[Stmt]:
        sym, dtype = self.name(), self.dtype()
        shape = self.draw(st.sampled_from(((BUFFER_SIZE,), (2, BUFFER_SIZE))))
        count = int(np.prod(shape))
        init = tuple(const(k % 5, dtype) for k in range(count))
        writable = self.draw(st.booleans())
        scope.buffers.append((sym, dtype, shape, writable))
        return [Alloc(sym, dtype, tuple(const(x, DType.I32) for x in shape), Space.LOCAL, init)]

    def _store(self, scope: Scope, depth: int) -> list[Stmt]:
        sym, dtype, shape, _ = self.draw(st.sampled_from([b for b in scope.buffers if b[3]]))
        return [self.store_to(sym, dtype, shape, scope)]

    def store_to(self, sym: Sym, dtype: DType, shape: tuple[int, ...], scope: Scope) -> Store:
        return Store(sym, self.index(shape, scope), self.expr(dtype, scope, 3))

    def _for(self, scope: Scope, depth: int) -> list[Stmt]:
        sym = self.name()
        bounded = scope.child()
        symbolic = self.draw(st.booleans())
        hi: Expr = next(v for v in scope.values if v.sym.name == "n") if symbolic else const(self.draw(st.integers(0, 4)), DType.I32)
        lo, step = self.draw(st.integers(0, 2)), self.draw(st.integers(1, 5))
        bounded.values.append(Var(sym, DType.I32))
        bounded.indexes.append(Var(sym, DType.I32))
        return [For(sym, DType.I32, const(lo, DType.I32), hi, const(step, DType.I32), self.body(bounded, depth + (2 if symbolic else 1)))]

    def _if(self, scope: Scope, depth: int) -> list[Stmt]:
        orelse = self.body(scope, depth + 1) if self.draw(st.booleans()) else ()
        return [If(self.truth(scope, 2), self.body(scope, depth + 1), orelse)]

    def _while(self, scope: Scope, depth: int) -> list[Stmt]:
        """A counted while loop."""
        counter = Sym("count")
        load = Load(counter, (), DType.I32)
        step = Store(counter, (), Binary("add", load, const(1, DType.I32)))
        condition = Binary("lt", load, const(self.draw(st.integers(0, 3)), DType.I32))
        start = [Alloc(counter, DType.I32, (), Space.LOCAL), Store(counter, (), const(0, DType.I32))]
        return [*start, While(condition, (step, *self.body(scope, depth + 1)))]

    def _vector(self, scope: Scope, depth: int) -> list[Stmt]:
        """A vector statement over a whole buffer, plain or masked."""
        flat = [b for b in scope.buffers if b[3] and b[2] and b[1].bits >= 32]
        if not flat:
            return self._let(scope, depth)
        sym, dtype, shape, _ = self.draw(st.sampled_from(flat))
        lanes = self.draw(st.sampled_from([n for n in (2, 4, 8, 16) if 128 <= n * dtype.bits <= 512]))
        v = Vec(dtype, lanes)
        index = tuple(const(0, DType.I32) for _ in shape)
        mask = self.mask(v, scope) if self.draw(st.booleans()) else None
        return [Store(sym, index, self.vector(v, scope, 3), mask)]

    # ------------------------------------------------------------------------------------------------- expressions

    def index(self, shape: tuple[int, ...], scope: Scope) -> tuple[Expr, ...]:
        return tuple(
            self.draw(st.sampled_from(scope.indexes)) if extent == BUFFER_SIZE else const(self.draw(st.integers(0, extent - 1)), DType.I32)
            for extent in shape
        )

    def literal(self, dtype: DType) -> Const:
        if dtype.is_float:
            return const(self.draw(st.sampled_from((0.0, 1.0, -0.5, 3.25, 0.1, 1e-3, -2.0))), dtype)
        return const(self.draw(st.integers(max(dtype.min_int, -50), 50)), dtype)

    def leaf(self, dtype: DType, scope: Scope) -> Expr:
        choices: list[Any] = [None]
        choices += [v for v in scope.values if v.type is dtype]
        choices += [b for b in scope.buffers if b[1] is dtype]
        chosen = self.draw(st.sampled_from(choices))
        if chosen is None:
            return self.literal(dtype)
        return chosen if isinstance(chosen, Var) else Load(chosen[0], self.index(chosen[2], scope), dtype)

    def expr(self, dtype: DType, scope: Scope, depth: int) -> Expr:
        if depth == 0:
            return self.leaf(dtype, scope)
        kind = self.draw(st.sampled_from(("leaf", "binary", "binary", "binary", "special", "select", "cast", "unary")))
        match kind:
            case "binary":
                ops = ("add", "sub", "mul", "min", "max") if dtype.is_float else ("add", "sub", "mul", "min", "max", "and", "or", "xor")
                op = self.draw(st.sampled_from(ops))
                return Binary(op, self.expr(dtype, scope, depth - 1), self.expr(dtype, scope, depth - 1))
            case "special":
                return self.special(dtype, scope, depth)
            case "select":
                return Select(self.truth(scope, depth - 1), self.expr(dtype, scope, depth - 1), self.expr(dtype, scope, depth - 1))
            case "cast":
                sources = INTS if not dtype.is_float else (*INTS, *FLOATS)
                return Cast(self.expr(self.draw(st.sampled_from(sources)), scope, depth - 1), dtype)
            case "unary":
                op = "neg" if dtype.is_float else self.draw(st.sampled_from(("neg", "bnot")))
                return Unary(op, self.expr(dtype, scope, depth - 1))
        return self.leaf(dtype, scope)

    def special(self, dtype: DType, scope: Scope, depth: int) -> Expr:
        inner = self.expr(dtype, scope, depth - 1)
        if dtype.is_float:
            fn = self.draw(st.sampled_from(("abs", "floor", "trunc", "fma", "sqrt", "bits")))
            if fn == "fma":
                return Math("fma", (inner, self.leaf(dtype, scope), self.leaf(dtype, scope)), dtype)
            if fn == "bits":
                bits = DType.U32 if dtype is DType.F32 else DType.I64
                return Bitcast(Bitcast(inner, bits), dtype)
            return Math(fn, (Math("abs", (inner,), dtype) if fn == "sqrt" else inner,), dtype)
        op = self.draw(st.sampled_from(("div", "mod", "shl", "shr")))
        return Binary(op, inner, const(self.draw(st.integers(1, 7)), dtype))

    def truth(self, scope: Scope, depth: int) -> Expr:
        kind = self.draw(st.sampled_from(("compare", "compare", "land", "lor", "lnot"))) if depth > 0 else "compare"
        if kind == "compare":
            dtype = self.dtype()
            op = self.draw(st.sampled_from(("lt", "le", "gt", "ge", "eq", "ne")))
            return Binary(op, self.expr(dtype, scope, max(depth - 1, 0)), self.expr(dtype, scope, 0))
        if kind == "lnot":
            return Unary("lnot", self.truth(scope, depth - 1))
        return Binary(kind, self.truth(scope, depth - 1), self.truth(scope, depth - 1))

    def vector(self, v: Vec, scope: Scope, depth: int) -> Expr:
        dtype = v.dtype
        kinds = ["load", "broadcast", "makevec", "maskload"]
        kinds += ["binary", "binary", "select", "math", "cast", "lane"] if depth > 0 else []
        kind = self.draw(st.sampled_from(kinds))
        sources = [b for b in scope.buffers if b[1] is dtype and b[2]]
        match kind:
            case "load" | "maskload" if sources:
                sym, _, shape, _ = self.draw(st.sampled_from(sources))
                mask = self.mask(v, scope) if kind == "maskload" else None
                return Load(sym, tuple(const(0, DType.I32) for _ in shape), v, mask)
            case "makevec":
                return MakeVec(tuple(self.leaf(dtype, scope) for _ in range(v.lanes)))
            case "binary":
                ops = ("add", "sub", "mul", "min", "max") + (("div",) if dtype.is_float else ("and", "or", "xor", "shl", "shr"))
                op = self.draw(st.sampled_from(ops))
                b = (
                    Broadcast(const(self.draw(st.integers(1, 7)), dtype), v.lanes)
                    if op in ("div", "shl", "shr")
                    else self.vector(v, scope, depth - 1)
                )
                return Binary(op, self.vector(v, scope, depth - 1), b)
            case "select":
                return Select(self.mask(v, scope, depth - 1), self.vector(v, scope, depth - 1), self.vector(v, scope, depth - 1))
            case "math" if dtype.is_float:
                fn = self.draw(st.sampled_from(("abs", "floor", "ceil", "fma")))
                count = 3 if fn == "fma" else 1
                return Math(fn, tuple(self.vector(v, scope, depth - 1) for _ in range(count)), v)
            case "cast":
                others = [d for d in (DType.I32, DType.F32, DType.I64, DType.F64, DType.U32) if 128 <= d.bits * v.lanes <= 512]
                source = self.draw(st.sampled_from([d for d in others if dtype.is_float or not d.is_float]))
                return Cast(self.vector(Vec(source, v.lanes), scope, depth - 1), v)
            case "lane":
                inner = self.vector(v, scope, depth - 1)
                which = Lane(inner, self.draw(st.integers(0, v.lanes - 1)))
                op = "max" if dtype.is_float else self.draw(st.sampled_from(("add", "min", "xor")))
                return Broadcast(which if self.draw(st.booleans()) else Reduce(op, inner), v.lanes)
        return Broadcast(self.leaf(dtype, scope), v.lanes)

    def mask(self, v: Vec, scope: Scope, depth: int = 1) -> Expr:
        kind = self.draw(st.sampled_from(("compare", "literal", "not", "and"))) if depth > 0 else "compare"
        if kind == "literal":
            return MakeVec(tuple(const(self.draw(st.booleans()), DType.BOOL) for _ in range(v.lanes)))
        if kind == "not":
            return Unary("lnot", self.mask(v, scope, depth - 1))
        if kind == "and":
            return Binary(self.draw(st.sampled_from(("and", "or", "xor"))), self.mask(v, scope, depth - 1), self.mask(v, scope, depth - 1))
        op = self.draw(st.sampled_from(("lt", "le", "gt", "ge", "eq", "ne")))
        return Binary(op, self.vector(v, scope, 0), self.vector(v, scope, 0))


def element(dtype: Any) -> DType:
    """The element type of a type."""
    return scalar(dtype)
