"""Random well-defined SIMT kernels: structurize and loop_recovery keep their results under random thread orders."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    Let,
    Module,
    Param,
    Region,
    Return,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.passes.loop_recovery import LoopRecovery
from synth.passes.structurize import Structurize

I32, U32, BOOL = DType.I32, DType.U32, DType.BOOL
BLOCKS = [(8, 1, 1), (32, 1, 1), (64, 1, 1), (8, 4, 1), (32, 2, 1), (16, 4, 1), (40, 1, 1)]
FULL = b.const(0xFFFFFFFF, U32)


class Generator:
    """Statements over two private variables, the thread's number and a shared array; barriers stand between conflicting accesses."""

    def __init__(self, rng: random.Random, block: tuple[int, int, int]) -> None:
        self.rng = rng
        self.threads = block[0] * block[1]
        self.depth = 0
        self.shared, self.tid, self.block = Sym("shared"), Sym("tid"), Sym("block")
        self.vars = [Sym("a"), Sym("b")]
        self.uniform: list[Sym] = []

    def expr(self, depth: int = 2) -> Expr:
        if depth == 0 or self.rng.random() < 0.3:
            loads = [b.load(v, (), I32) for v in self.vars]
            return self.rng.choice([b.var(self.tid), b.i32(self.rng.randrange(-5, 40)), *loads, *[b.var(u) for u in self.uniform]])
        op = self.rng.choice(["add", "sub", "mul", "min", "max", "xor"])
        return Binary(op, self.expr(depth - 1), self.expr(depth - 1))

    def cond(self) -> Expr:
        return Binary(self.rng.choice(["lt", "ge", "eq"]), self.expr(1), self.expr(1))

    def uniform_cond(self) -> Expr:
        sym = self.rng.choice([*self.uniform, self.block])
        return Binary(self.rng.choice(["lt", "ge"]), b.var(sym), b.i32(self.rng.randrange(3)))

    def body(self, count: int, sync: bool, warp: bool) -> Body:
        return tuple(s for _ in range(count) for s in self.statement(sync, warp))

    def statement(self, sync: bool, warp: bool) -> list[Stmt]:
        kinds = ["assign"] * 3 + ["let"] + ["branch", "loop"] * (self.depth < 2)
        kinds += (["exchange"] * 3 + ["uniform_loop", "uniform_branch", "uniform_while"] * (self.depth < 2)) * sync
        kinds += (["shuffle"] * 2 + ["vote"] + ["one_warp", "divergent_vote"] * (self.depth == 0)) * warp
        self.depth += 1
        made: list[Stmt] = getattr(self, self.rng.choice(kinds))(warp)
        self.depth -= 1
        return made

    def target(self) -> Sym:
        return self.rng.choice(self.vars)

    def assign(self, _: bool) -> list[Stmt]:
        return [Store(self.target(), (), self.expr())]

    def let(self, _: bool) -> list[Stmt]:
        sym, v = Sym("l"), self.target()
        return [Let(sym, self.expr()), Store(v, (), Binary("xor", b.var(sym), b.load(v, (), I32)))]

    def branch(self, _: bool) -> list[Stmt]:
        return [If(self.cond(), self.body(2, False, False), self.body(self.rng.randrange(2), False, False))]

    def _loop(self, body: Body, k: Sym, cond: Expr) -> Stmt:
        if self.rng.random() < 0.35:
            body = (If(cond, (self.rng.choice([Break, Continue])(),)), *body)
        return For(k, I32, b.i32(0), b.i32(self.rng.randrange(1, 4)), b.i32(1), body)

    def loop(self, _: bool) -> list[Stmt]:
        k = Sym("k")
        self.uniform.append(k)
        made = self._loop(self.body(2, False, False), k, self.cond())
        self.uniform.pop()
        return [made]

    def uniform_loop(self, warp: bool) -> list[Stmt]:
        k = Sym("u")
        self.uniform.append(k)
        made = self._loop(self.body(3, True, warp), k, self.uniform_cond())
        self.uniform.pop()
        return [made]

    def exchange(self, _: bool) -> list[Stmt]:
        at = Binary("mod", b.add(b.var(self.tid), b.i32(self.rng.randrange(1, self.threads))), b.i32(self.threads))
        put, get = Store(self.shared, (b.var(self.tid),), self.expr()), Store(self.target(), (), b.load(self.shared, (at,), I32))
        return [put, Sync(Scope.BLOCK), get, Sync(Scope.BLOCK)]

    def uniform_branch(self, warp: bool) -> list[Stmt]:
        return [If(self.uniform_cond(), self.body(2, True, warp), self.body(self.rng.randrange(3), True, warp))]

    def uniform_while(self, warp: bool) -> list[Stmt]:
        w, v = Sym("w"), self.target()
        step = Store(w, (), Binary("shr", b.load(w, (), I32), b.i32(1)))
        use = Store(v, (), b.add(b.load(v, (), I32), b.load(w, (), I32)))
        loop = While(Binary("gt", b.load(w, (), I32), b.i32(1)), (*self.body(2, True, warp), use, step))
        return [Alloc(w, I32, (), Space.LOCAL), Store(w, (), b.i32(self.rng.choice([2, 4]))), loop]

    def one_warp(self, _: bool) -> list[Stmt]:
        return [If(b.lt(Binary("shr", b.var(self.tid), b.i32(5)), b.i32(1)), self.body(2, False, True))]

    def _call(self, op: str, kind: DType, args: tuple[Expr, ...], guard: Expr | None = None) -> list[Stmt]:
        t, v = Sym("t"), self.target()
        call: Stmt = Call(op, (Region(t, ()),), args)
        first: list[Stmt] = [Alloc(t, kind, (), Space.LOCAL)]
        if guard is not None:
            first.append(Store(t, (), b.const(0, kind)))
            call = If(guard, (call,))
        return [*first, call, Store(v, (), Binary("xor", b.load(v, (), I32), b.cast(b.load(t, (), kind), I32)))]

    def divergent_vote(self, _: bool) -> list[Stmt]:
        args = self.rng.choice([(), (FULL, self.cond())])
        return self._call("warp.ballot" if args else "warp.activemask", U32, args, self.cond())

    def vote(self, _: bool) -> list[Stmt]:
        op = self.rng.choice(["warp.any", "warp.all", "warp.ballot"])
        return self._call(op, U32 if op == "warp.ballot" else BOOL, (FULL, self.cond()))

    def shuffle(self, _: bool) -> list[Stmt]:
        op = self.rng.choice(["warp.shfl", "warp.shfl_up", "warp.shfl_down", "warp.shfl_xor"])
        width = 8 if self.threads % 32 else self.rng.choice([32, 32, 16, 8])
        delta: Expr = b.i32(self.rng.choice([1, 2, 4, 7]))
        if op == "warp.shfl" and self.rng.random() < 0.5:
            delta = b.var(self.tid)
        if op in ("warp.shfl_up", "warp.shfl_down"):
            delta = b.cast(delta, U32)
        return self._call(op, I32, (FULL, self.expr(1), delta, b.i32(width)))


def random_kernel(simt: Any, seed: int) -> tuple[Module, int]:
    rng = random.Random(seed)
    block = rng.choice(BLOCKS)
    gen = Generator(rng, block)
    out = Sym("out")

    def kernel(ix: dict[str, Var]) -> list[Stmt]:
        number = b.add(b.mul(ix["ty"], b.const(block[0], U32)), ix["tx"])
        stmts: list[Stmt] = [Let(gen.tid, b.cast(number, I32)), Let(gen.block, b.cast(ix["bx"], I32))]
        for i, v in enumerate(gen.vars):
            stmts += [Alloc(v, I32, (), Space.LOCAL), Store(v, (), b.add(b.var(gen.tid), b.i32(i)))]
        if rng.random() < 0.3:
            whole_warps = Binary("ge", b.var(gen.tid), b.i32(32))
            stmts.append(If(whole_warps if rng.random() < 0.5 else gen.uniform_cond(), (Return(),)))
        stmts += gen.body(rng.randrange(3, 8), True, True)
        at = b.add(b.mul(b.var(gen.block), b.i32(gen.threads)), b.var(gen.tid))
        stmts.append(Store(out, (at,), b.add(b.load(gen.vars[0], (), I32), b.mul(b.i32(3), b.load(gen.vars[1], (), I32)))))
        return stmts

    shared = (Alloc(gen.shared, I32, (b.i32(gen.threads),), Space.SHARED),)
    launch = simt.launch(block, (2, 1, 1), shared, kernel)
    return Module("f", (Param(out, I32, (b.i32(2 * gen.threads),)),), (launch,), "cuda"), 2 * gen.threads


@settings(max_examples=15, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_recovery_keeps_the_meaning(simt: Any, seed: int) -> None:
    before, count = random_kernel(simt, seed)
    nested = simt.apply_all(before, Structurize)
    verdict = LoopRecovery("k").check(nested, simt.spec)
    assert verdict, verdict.reason
    args = {"out": np.zeros(count, np.int32)}
    try:
        simt.run(before, {"out": args["out"].copy()})
    except ValueError:
        return  # lanes of a warp wait at different operations: CUDA does not define it, and this interpreter does not either
    simt.agree(before, nested, args, 0)
    simt.agree(before, LoopRecovery("k").apply(nested, simt.spec), args, 0)
