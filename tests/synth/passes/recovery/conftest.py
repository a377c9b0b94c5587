"""A SIMT interpreter of its own for these tests: threads are generators, run in random order between their meeting points.

It shares no code with the passes or with ``synth.ir.interpreter``, so that it can judge them. Uninitialised memory holds arbitrary numbers.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from synth.evidence.cases import NUMPY_DTYPES
from synth.frontend import read
from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Math,
    Module,
    Return,
    Scope,
    Select,
    Stmt,
    Store,
    Sym,
    Sync,
    Unary,
    Var,
    While,
)
from synth.ir.traversal import walk
from synth.ir.verifier import verify
from synth.source import ReadOptions, Source
from synth.spec import SPECS

# ------------------------------------------------------------------------------------------------------ expressions


class _Leave(Exception):
    def __init__(self, what: type) -> None:
        self.what = what


class _Scope(dict[Any, Any]):
    """A dictionary that falls back to an outer one."""

    def __init__(self, outer: dict[Any, Any]) -> None:
        super().__init__()
        self.outer = outer

    def __missing__(self, key: Any) -> Any:
        return self.outer[key]


def _wrap(value: Any, kind: DType) -> Any:
    if kind is DType.BOOL:
        return bool(value)
    if kind.is_float:
        return float(np.float32(value)) if kind is DType.F32 else float(value)
    low = int(value) & ((1 << kind.bits) - 1)
    return low - (1 << kind.bits) if low > kind.max_int else low


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "min": min, "max": max,
    "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y, "shl": lambda x, y: x << y, "shr": lambda x, y: x >> y,
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
}  # fmt: skip


class Machine:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def value(self, e: Expr, env: Any, mem: Any) -> Any:
        match e:
            case Const():
                return e.value
            case Var():
                return env[e.sym]
            case Load():
                return self.element(e.buf, e.index, env, mem)[0][self.element(e.buf, e.index, env, mem)[1]].item()
            case Unary():
                x = self.value(e.a, env, mem)
                return {"neg": lambda: _wrap(-x, e.type), "lnot": lambda: not x, "bnot": lambda: _wrap(~x, e.type)}[e.op]()
            case Binary("land", x, y):
                return bool(self.value(x, env, mem)) and bool(self.value(y, env, mem))
            case Binary("lor", x, y):
                return bool(self.value(x, env, mem)) or bool(self.value(y, env, mem))
            case Binary():
                x, y = self.value(e.a, env, mem), self.value(e.b, env, mem)
                if e.op in ("div", "mod") and not e.a.type.is_float:
                    q = _quotient(x, y)
                    return _wrap(q if e.op == "div" else x - y * q, e.type)
                return _wrap(x / y if e.op == "div" else _OPS[e.op](x, y), e.type)
            case Cast():
                return _wrap(self.value(e.a, env, mem), e.type)
            case Select():
                return self.value(e.a if self.value(e.cond, env, mem) else e.b, env, mem)
            case Math():
                return _wrap({"exp": math.exp, "sqrt": math.sqrt}[e.fn](*[self.value(a, env, mem) for a in e.args]), e.type)
        raise NotImplementedError(e)

    def element(self, buf: Sym, index: tuple[Expr, ...], env: Any, mem: Any) -> tuple[Any, tuple[int, ...]]:
        at = tuple(self.value(i, env, mem) for i in index)
        data = mem[buf]
        if len(at) != data.ndim or not all(0 <= i < n for i, n in zip(at, data.shape, strict=True)):
            raise IndexError(f"{buf.name}{at} of {data.shape}")
        return data, at

    # -------------------------------------------------------------------------------------------------- statements

    def run(self, body: Body, env: Any, mem: Any) -> Iterator[Any]:
        for stmt in body:
            yield from self.statement(stmt, env, mem)

    def statement(self, s: Stmt, env: Any, mem: Any) -> Iterator[Any]:
        match s:
            case Let():
                env[s.sym] = self.value(s.value, env, mem)
            case Alloc():
                shape = tuple(self.value(x, env, mem) for x in s.shape)
                fill = 77 if s.sym.name == "shared" else self.rng.randrange(90, 120)
                mem[s.sym] = np.full(shape, fill, NUMPY_DTYPES[s.dtype])  # type: ignore[index]
                if s.init is not None:
                    mem[s.sym].flat[:] = [c.value for c in s.init]
            case Store():
                value = self.value(s.value, env, mem)
                data, at = self.element(s.buf, s.index, env, mem)
                data[at] = value
            case For():
                for i in range(*(self.value(e, env, mem) for e in (s.lo, s.hi, s.step))):
                    env[s.sym] = i
                    if (yield from self.iteration(s.body, env, mem)):
                        break
            case While():
                while self.value(s.cond, env, mem):
                    if (yield from self.iteration(s.body, env, mem)):
                        break
            case If():
                yield from self.run(s.then if self.value(s.cond, env, mem) else s.orelse, env, mem)
            case Break() | Continue() | Return():
                raise _Leave(type(s))
            case Sync():
                yield ("sync", s.scope, ())
            case Call("host.copy" | "host.fill"):
                self.host(s, env, mem)
            case Call():
                result = yield (s.op, Scope.WARP, tuple(self.value(a, env, mem) for a in s.args))
                for d in s.dests:
                    data, at = self.element(d.buf, d.index, env, mem)
                    data[at] = result
            case Launch():
                self.launch(s, env, mem)

    def iteration(self, body: Body, env: Any, mem: Any) -> Any:
        try:
            yield from self.run(body, env, mem)
        except _Leave as leave:
            if leave.what is Return:
                raise
            return leave.what is Break
        return False

    def host(self, s: Call, env: Any, mem: Any) -> None:
        d, a = s.dests[0], s.args[0]
        n, to = self.value(d.extent[0], env, mem), self.value(d.index[0], env, mem)
        if s.op == "host.fill":
            mem[d.buf][to : to + n] = self.value(a, env, mem)  # type: ignore[arg-type]
        else:
            start = self.value(a.index[0], env, mem)  # type: ignore[union-attr]
            mem[d.buf][to : to + n] = mem[a.buf][start : start + n]  # type: ignore[union-attr]

    # ------------------------------------------------------------------------------------------------------ launch

    def launch(self, launch: Launch, env: Any, mem: Any) -> None:
        nest = [s for s in walk(launch.body) if isinstance(s, For) and s.axis is not None]
        blocks = [s for s in nest if s.axis.value.startswith("block")]  # type: ignore[union-attr]
        threads = [s for s in nest if s.axis.value.startswith("thread")]  # type: ignore[union-attr]
        shared = blocks[-1].body[:-1]
        counts = [[range(self.value(f.hi, env, mem)) for f in group] for group in (blocks, threads)]
        for at in itertools.product(*counts[0]):
            block_env, block_mem = _Scope(env), _Scope(mem)
            block_env.update(zip((f.sym for f in blocks), at, strict=True))
            list(self.run(shared, block_env, block_mem))
            running = []
            for t in itertools.product(*counts[1]):
                own = _Scope(block_env)
                own.update(zip((f.sym for f in threads), t, strict=True))
                running.append(self.run(threads[-1].body, own, _Scope(block_mem)))
            self.schedule(running)

    def schedule(self, threads: list[Any]) -> None:
        waiting: dict[int, Any] = {}
        send: dict[int, Any] = {}
        ready = list(range(len(threads)))
        while ready:
            self.rng.shuffle(ready)
            for i in ready:
                try:
                    waiting[i] = threads[i].send(send.pop(i, None))
                except StopIteration:
                    waiting.pop(i, None)
                except _Leave:
                    waiting.pop(i, None)
            ready = self.released(waiting, send)

    def released(self, waiting: dict[int, Any], send: dict[int, Any]) -> list[int]:
        """Threads that go on: warps whose live threads all wait at one operation, else a block of which all wait at its barrier, else (a
        divergent warp operation) those lanes of a warp that wait at it."""
        warps = [[i for i in waiting if i // 32 == w] for w in {i // 32 for i in waiting}]
        whole = [w for w in warps if {waiting[i][1] for i in w} == {Scope.WARP}]
        if whole:
            return [i for w in whole for i in self.meet(w, waiting, send)]
        if all(state[1] is Scope.BLOCK for state in waiting.values()):
            return list(waiting)
        some = [[i for i in w if waiting[i][1] is Scope.WARP] for w in warps]
        return [i for w in some if w for i in self.meet(w, waiting, send)]

    def meet(self, lanes: list[int], waiting: dict[int, Any], send: dict[int, Any]) -> list[int]:
        (op,) = {waiting[i][0] for i in lanes}
        base = lanes[0] // 32 * 32
        args = {i - base: waiting[i][2] for i in lanes}
        for lane, own in args.items():
            send[base + lane] = None if op == "sync" else _result(op, lane, own, args)
        return lanes


def _result(op: str, lane: int, own: Any, args: dict[int, Any]) -> Any:
    if op == "warp.activemask":
        return sum(1 << k for k in args)
    if op in ("warp.any", "warp.all", "warp.ballot"):
        votes = {k: bool(a[1]) for k, a in args.items() if own[0] >> k & 1}
        if op == "warp.ballot":
            return sum(1 << k for k, v in votes.items() if v)
        return any(votes.values()) if op == "warp.any" else all(votes.values())
    _, value, delta, width = own
    first = lane & ~(width - 1)
    if op == "warp.shfl":
        source = first | (delta & (width - 1))
    elif op == "warp.shfl_up":
        source = lane - delta if lane - delta >= first else lane
    elif op == "warp.shfl_down":
        source = lane + delta if lane + delta < first + width else lane
    else:
        source = lane ^ delta if (lane ^ delta) < first + width else lane
    return args[source][1] if source in args else value + 1000


# ---------------------------------------------------------------------------------------------------------- fixtures


def run(module: Module, args: dict[str, Any], seed: int = 0) -> None:
    """Runs a module on named arguments; arrays change in place."""
    env: dict[Any, Any] = {}
    mem: dict[Any, Any] = {}
    for p in module.params:
        (mem if p.is_buffer else env)[p.sym] = args[p.sym.name]
    try:
        list(Machine(random.Random(seed)).run(module.body, env, mem))
    except _Leave as leave:
        assert leave.what is Return


def agree(before: Module, after: Module, args: dict[str, Any], tolerance: float = 1e-5) -> dict[str, Any]:
    """Runs both on copies of ``args``, compares all arrays, and returns what the first computed. The second must be well formed."""
    assert verify(after) == ()
    x, y = copy.deepcopy(args), copy.deepcopy(args)
    run(before, x)
    run(after, y, seed=1)
    for name, value in x.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(y[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
    return x


def launch(
    block: tuple[int, int, int], grid: tuple[int, int, int], shared: Body, kernel: Callable[[dict[str, Var]], Iterable[Stmt]]
) -> Launch:
    """A launch of ``kernel``, which gets the six index variables by name."""
    syms = {n: Sym(n) for n in ("tx", "ty", "tz", "bx", "by", "bz")}
    body = tuple(kernel({n: Var(s, DType.U32) for n, s in syms.items()}))

    def bind(names: str, extents: tuple[int, int, int], prefix: str, inner: Body) -> Body:
        for name, extent in zip(names, extents, strict=True):
            one, zero = b.const(1, DType.U32), b.const(0, DType.U32)
            axis = Axis(f"{prefix}.{name}")
            inner = (For(syms[prefix[0] + name], DType.U32, zero, b.const(extent, DType.U32), one, inner, axis),)
        return inner

    return Launch("k", bind("xyz", grid, "block", (*shared, *bind("xyz", block, "thread", body))))


def apply_all(module: Module, *passes: Any, limit: int = 60) -> Module:
    """Applies legal proposals of the passes, the earlier ones first, until none is left."""
    spec = SPECS["avx512_vnni"]
    for _ in range(limit):
        found = next((p for kind in passes for p in kind.space(module, spec) if p.check(module, spec)), None)
        if found is None:
            return module
        module = found.apply(module, spec)
    raise AssertionError("passes do not come to an end")


def cuda(text: str) -> Module:
    return read(Source("#include <cuda_runtime.h>\n#include <math.h>\n" + text, "cuda", "test.cu"), ReadOptions()).module


@pytest.fixture
def simt() -> SimpleNamespace:
    """``run``, ``agree``, ``launch``, ``apply_all``, ``cuda`` and the target ``spec``."""
    return SimpleNamespace(run=run, agree=agree, launch=launch, apply_all=apply_all, cuda=cuda, spec=SPECS["avx512_vnni"])
