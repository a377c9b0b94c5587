"""Random kernels of one small block, executed thread by thread: what is proved free of races and in bounds is so in every execution."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from synth.analysis.bounds import check_bounds
from synth.analysis.races import check_races
from synth.analysis.solver import Proof
from synth.ir import builder as b
from synth.ir import verifier
from synth.ir.dtypes import DType
from synth.ir.evaluation import meaning
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Break,
    Cast,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Module,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    While,
)
from synth.ir.memory import Memory
from synth.ir.traversal import walk_expr

I32, U32, F32 = DType.I32, DType.U32, DType.F32
THREADS, CELLS = 8, 24


class Kernel:
    """A kernel over a shared array: guarded copies of cells, barriers, loops of fixed length, and a stride that is halved or doubled."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.shared, self.tx, self.t = Sym("s"), Sym("tx"), Sym("t")
        self.values: list[Expr] = [b.var(self.t)]
        body = (Let(self.t, Cast(b.var(self.tx, U32), I32)), *self.body(2))
        self.module = Module("entry", (), (self.launch(body),), dialect="cuda")
        self.kernel = body

    def launch(self, body: Body) -> Launch:
        def loop(sym: Sym, count: int, inner: Body, axis: Axis) -> For:
            return For(sym, U32, b.const(0, U32), b.const(count, U32), b.const(1, U32), inner, axis)

        inner = body
        for sym, axis, count in (
            (self.tx, Axis.THREAD_X, THREADS),
            (Sym("ty"), Axis.THREAD_Y, 1),
            (Sym("tz"), Axis.THREAD_Z, 1),
        ):
            inner = (loop(sym, count, inner, axis),)
        inner = (Alloc(self.shared, F32, (b.i32(CELLS),), Space.SHARED), *inner)
        for name, axis in (("bx", Axis.BLOCK_X), ("by", Axis.BLOCK_Y), ("bz", Axis.BLOCK_Z)):
            inner = (loop(Sym(name), 1, inner, axis),)
        return Launch("k", inner)

    def index(self) -> Expr:
        r = self.rng
        e: Expr = b.var(self.t) if r.random() < 0.8 else r.choice(self.values)
        for _ in range(r.randrange(3)):
            other = r.choice([*self.values, b.i32(r.randrange(1, 9))])
            match r.randrange(7):
                case 0 | 1:
                    e = b.add(e, other)
                case 2:
                    e = b.sub(b.i32(r.choice([7, 15, 23])), e)
                case 3:
                    e = b.mul(e, b.i32(r.randrange(2, 4)))
                case 4:
                    e = Binary("div", e, b.i32(r.randrange(2, 5)))
                case 5:
                    e = Binary("mod", e, b.i32(r.randrange(2, 9)))
                case _:
                    e = Binary("xor", e, b.i32(r.choice([1, 2, 4])))
        return e

    def guard(self) -> Expr:
        r = self.rng
        left = r.choice([b.var(self.t), b.var(self.t), Binary("mod", b.var(self.t), b.i32(r.randrange(2, 5))), self.index()])
        return Binary(r.choice(["lt", "ge", "eq", "le"]), left, r.choice([b.i32(r.randrange(0, 8)), *self.values[1:]]))

    def copy(self) -> Stmt:
        move = Store(self.shared, (self.index(),), Load(self.shared, (self.index(),), F32))
        return If(self.guard(), (move,)) if self.rng.random() < 0.5 else move

    def body(self, depth: int) -> Body:
        r = self.rng
        out: list[Stmt] = []
        for _ in range(r.randrange(1, 4)):
            kind = r.random()
            if kind < 0.45 or depth == 0:
                out.append(self.copy())
            elif kind < 0.7:
                out.append(Sync(Scope.BLOCK))
            elif kind < 0.78:
                out.extend(self.walk(depth))
            elif kind < 0.88:
                k = Sym("k")
                self.values.append(b.var(k))
                inner = self.body(depth - 1)
                self.values.pop()
                count = b.i32(r.randrange(1, 4)) if r.random() < 0.8 else b.var(self.t)
                out.append(For(k, I32, b.i32(0), count, b.i32(r.randrange(1, 3)), inner if count != b.var(self.t) else (self.copy(),)))
            else:
                out.extend(self.strides(depth))
            if r.random() < 0.4:
                out.append(Sync(Scope.BLOCK))
        return tuple(out)

    def walk(self, depth: int) -> Body:
        """A variable that walks while another runs down."""
        r = self.rng
        p, left = Sym("p"), Sym("left")
        here, now = Load(p, (), I32), Load(left, (), I32)
        start = r.choice([b.var(self.t), b.i32(r.randrange(0, 9)), b.mul(b.var(self.t), b.i32(2))])
        count = r.randrange(1, 5)
        self.values.append(here)
        inner = self.body(0)
        self.values.pop()
        move = Store(p, (), b.add(here, b.i32(r.choice([-1, 1, 2, 8]))))
        run = Store(left, (), b.sub(now, b.i32(1)))
        begin = (Alloc(p, I32, (), Space.LOCAL), Store(p, (), start), Alloc(left, I32, (), Space.LOCAL), Store(left, (), b.i32(count)))
        match r.randrange(3):
            case 0:
                return *begin, While(Binary("gt", now, b.i32(0)), (run, *inner, move))
            case 1:
                return *begin, While(Binary("ge", now, b.i32(1)), (move, *inner, run))
            case _:
                old = Sym("old")
                leave = If(b.lnot(Binary("gt", b.var(old), b.i32(0))), (Break(),))
                return *begin, While(b.true(), (Let(old, now), run, leave, *inner, move))

    def strides(self, depth: int) -> Body:
        h = Sym("h")
        now = Load(h, (), I32)
        self.values.append(now)
        inner = self.body(depth - 1)
        self.values.pop()
        if self.rng.random() < 0.5:
            start, go, step = b.i32(4), Binary("gt", now, b.i32(0)), Binary("shr", now, b.i32(1))
        else:
            start, go, step = b.i32(1), b.lt(now, b.i32(8)), b.mul(now, b.i32(2))
        change = Store(h, (), step)
        loop = (*inner, change, Sync(Scope.BLOCK)) if self.rng.random() < 0.3 else (*inner, change)
        return Alloc(h, I32, (), Space.LOCAL), Store(h, (), start), While(go, loop)

    # ------------------------------------------------------------------------------------------------------ execution

    def events(self, thread: int) -> Iterator[tuple[int, int, bool]]:
        """The accesses of a thread to the shared array: (barriers passed, cell, is a write). Control never reads data."""
        env: dict[int, object] = {self.tx.uid: thread, self.shared.uid: Memory("s", F32, (CELLS,), [0.0] * CELLS)}
        self.passed = 0
        yield from self.run(self.kernel, env)

    def run(self, body: Body, env: dict[int, object]) -> Generator[tuple[int, int, bool], None, bool]:
        """The accesses; the result is whether a break was met."""
        for s in body:
            match s:
                case Let():
                    env[s.sym.uid] = meaning(s.value)(env)
                case Alloc():
                    env[s.sym.uid] = Memory(s.sym.name, I32, (), [None])
                case Store(index=()):
                    env[s.buf.uid].cells[0] = meaning(s.value)(env)  # type: ignore[attr-defined]
                case Store():
                    for load in (e for e in walk_expr(s.value) if isinstance(e, Load) and e.buf == self.shared):
                        yield self.passed, meaning(load.index[0])(env), False
                    yield self.passed, meaning(s.index[0])(env), True
                case If():
                    if (yield from self.run(s.then if meaning(s.cond)(env) else s.orelse, env)):
                        return True
                case Break():
                    return True
                case For():
                    for v in range(meaning(s.lo)(env), meaning(s.hi)(env), meaning(s.step)(env)):
                        yield from self.run(s.body, {**env, s.sym.uid: v})
                case While():
                    while meaning(s.cond)(env) and not (yield from self.run(s.body, env)):
                        pass
                case Sync():
                    self.passed += 1
        return False

    def races(self) -> bool:
        touched: dict[tuple[int, int], set[tuple[int, bool]]] = {}
        for thread in range(THREADS):
            for passed, cell, is_write in self.events(thread):
                touched.setdefault((passed, cell), set()).add((thread, is_write))
        return any(len({t for t, _ in found}) > 1 and any(w for _, w in found) for found in touched.values())

    def leaves(self) -> bool:
        return any(not 0 <= cell < CELLS for thread in range(THREADS) for _, cell, _ in self.events(thread))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30))
def test_what_is_proved_holds_in_execution(seed: int) -> None:
    kernel = Kernel(seed)
    verifier.check(kernel.module)
    report = check_races(kernel.module)
    assert report.divergent == ()
    if not report.unknown:
        assert not kernel.races()
    findings = check_bounds(kernel.module)
    if all(f.proof is Proof.PROVED for f in findings):
        assert not kernel.leaves()
    if any(f.proof is Proof.REFUTED for f in findings):
        assert kernel.leaves()


def test_the_generator_makes_both_kinds() -> None:
    kernels = [Kernel(seed) for seed in range(60)]
    assert {k.races() for k in kernels} == {True, False} == {k.leaves() for k in kernels}
