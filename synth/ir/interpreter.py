"""The reference interpreter: the definition of what IR means. Small and obvious before fast.

Every access is checked against its buffer's bounds, reading what was never written is an error, and so is everything that C leaves
undefined in arithmetic (``synth.ir.values``). The threads of a block run by ``synth.ir.simt``; blocks, and the iterations of ``omp`` and
``simd`` loops, run one after the other in ascending order.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.ir import simt
from synth.ir.atomics import PREFIX, is_atomic, operands, updated
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.evaluation import Env, Meaning, meaning
from synth.ir.grammar import (
    Alloc,
    Axis,
    Bitcast,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Module,
    Param,
    Region,
    Return,
    Role,
    Scope,
    Stmt,
    Store,
    Sync,
    While,
)
from synth.ir.memory import InterpreterError, Memory, from_array, to_array, typed_scalar
from synth.ir.simt import Wait
from synth.ir.values import UndefinedOperation, conversion

__all__ = ["DEFAULT_STEPS", "InterpreterError", "run"]

DEFAULT_STEPS = 20_000_000
_MAX_CELLS = 1 << 26

# How a body ends early; None: it ran to its end.
Signal = type[Break] | type[Continue] | type[Return] | None
Execution = Generator[Wait, Any, Signal]


def run(module: Module, args: Mapping[str, NDArray[Any] | float | int], *, max_steps: int = DEFAULT_STEPS) -> None:
    """Calls the entry with arguments by parameter name: flat numpy arrays, changed in place, and numbers.

    An ``out`` buffer counts as uninitialised at entry; elements that the program does not write keep the caller's values.
    Raises InterpreterError (kind and source location) and leaves the arrays as they were then."""
    given = dict(args)
    names = {p.sym.name for p in module.params}
    if given.keys() != names:
        wrong = sorted(given.keys() ^ names)
        raise InterpreterError("argument", f"arguments do not match the parameters of {module.name}: {', '.join(wrong)}")
    machine = _Machine(max_steps, module.warp_size)
    env: Env = {}
    arrays = [(p, np.asarray(given[p.sym.name])) for p in module.params if p.is_buffer]
    for a, b in itertools.combinations(arrays, 2):
        if np.may_share_memory(a[1], b[1]):
            raise InterpreterError("argument", f"'{a[0].sym.name}' and '{b[0].sym.name}' share memory")
    for p in module.params:
        if not p.is_buffer:
            env[p.sym.uid] = typed_scalar(p.sym.name, p.dtype, given[p.sym.name])
    for p, array in arrays:
        env[p.sym.uid] = machine.argument(p, array, env)
    for fact in module.assumes:
        if not machine.value(fact, env):
            raise InterpreterError("argument", f"the arguments break what {module.name} assumes")
    machine.finish(machine.body(module.body, env))
    for p, array in arrays:
        to_array(env[p.sym.uid], array)


@dataclass(slots=True)
class _Machine:
    """``meanings`` keeps the function of each expression, by identity."""

    max_steps: int
    warp_size: int
    steps: int = 0
    meanings: dict[int, Meaning] = field(default_factory=dict)
    here: Stmt | None = None

    def argument(self, p: Param, array: NDArray[Any], env: Env) -> Memory:
        memory = from_array(p.sym.name, p.dtype, array)
        for extent in p.shape or ():
            wanted = self.value(extent, env)
            if len(array) < wanted:
                raise InterpreterError("argument", f"'{p.sym.name}' has {len(array)} elements, its extent is {wanted}")
        if p.role is Role.OUT:
            memory.cells = [None] * len(array)
        return memory

    def value(self, e: Expr, env: Env) -> Any:
        """The value of an expression here."""
        function = self.meanings.get(id(e))
        if function is None:
            function = self.meanings[id(e)] = meaning(e)
        try:
            return function(env)
        except UndefinedOperation as error:
            raise InterpreterError("undefined", str(error), self.location()) from error
        except InterpreterError as error:
            error.location = error.location or self.location()
            raise

    def values(self, exprs: tuple[Expr, ...], env: Env) -> tuple[Any, ...]:
        return tuple([self.value(e, env) for e in exprs])

    def location(self) -> Any:
        return None if self.here is None else self.here.loc

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.max_steps:
            raise InterpreterError("limit", f"more than {self.max_steps} steps", self.location())

    def finish(self, execution: Execution) -> None:
        """Runs what must not wait for anybody."""
        for wait in execution:
            raise InterpreterError("divergence", "a barrier or warp operation outside thread loops", wait.stmt.loc)

    # -------------------------------------------------------------------------------------------------- statements

    def body(self, body: Body, env: Env) -> Execution:
        for s in body:
            self.step()
            self.here = s
            match s:
                case Let():
                    env[s.sym.uid] = self.value(s.value, env)
                case Store():
                    self.store(s, env)
                case Alloc():
                    env[s.sym.uid] = self.alloc(s, env)
                case Break() | Continue() | Return():
                    return type(s)
                case Sync():
                    if s.scope is not Scope.DEVICE:
                        yield Wait(s)
                case Call():
                    yield from self.call(s, env)
                case _:
                    signal = yield from self.compound(s, env)
                    if signal is not None:
                        return signal
        return None

    def compound(self, s: If | For | While | Launch, env: Env) -> Execution:
        match s:
            case If():
                return (yield from self.body(s.then if self.value(s.cond, env) else s.orelse, env))
            case While():
                while self.condition(s, env):
                    signal = yield from self.body(s.body, env)
                    if signal is not None and signal is not Continue:
                        return None if signal is Break else signal
                return None
            case For() if s.axis is not None and s.axis.is_thread:
                self.threads(s, env)
                return None
            case For():
                for i in self.iterations(s, env):
                    self.step()
                    env[s.sym.uid] = i
                    signal = yield from self.body(s.body, env)
                    if signal is not None and signal is not Continue:
                        return None if signal is Break else signal
                return None
            case Launch():
                self.finish(self.body(s.body, env))
                return None

    def condition(self, s: While, env: Env) -> bool:
        self.step()
        self.here = s
        return bool(self.value(s.cond, env))

    def iterations(self, s: For, env: Env) -> range:
        lo, hi, step = self.values((s.lo, s.hi, s.step), env)
        if step <= 0:
            raise InterpreterError("undefined", f"the step of loop '{s.sym.name}' is {step}", s.loc)
        return range(lo, hi, step)

    def threads(self, s: For, env: Env) -> None:
        """All threads of one block. The linear index counts x fastest, then y, then z."""
        nest = [s]
        while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], For) and inner.axis and inner.axis.is_thread:
            nest.append(inner)
        nest.sort(key=lambda loop: (Axis.THREAD_Z, Axis.THREAD_Y, Axis.THREAD_X).index(loop.axis))
        innermost = next(loop for loop in nest if not any(other in loop.body for other in nest))
        threads = [
            self.body(innermost.body, {**env, **{loop.sym.uid: i for loop, i in zip(nest, point, strict=True)}})
            for point in itertools.product(*(self.iterations(loop, env) for loop in nest))
        ]
        simt.run_block(threads, self.warp_size)

    # ------------------------------------------------------------------------------------------------------ memory

    def alloc(self, s: Alloc, env: Env) -> Memory:
        shape = self.values(s.shape, env)
        count = 1
        for extent in shape:
            count *= extent
        if any(extent < 0 for extent in shape) or count > _MAX_CELLS:
            raise InterpreterError("limit", f"buffer '{s.sym.name}' of shape {shape}", s.loc)
        cells = [None] * count if s.init is None else [self.value(c, env) for c in s.init]
        return Memory(s.sym.name, s.dtype, shape, cells)

    def store(self, s: Store, env: Env) -> None:
        memory: Memory = env[s.buf.uid]
        index = self.values(s.index, env)
        value = self.value(s.value, env)
        mask = None if s.mask is None else self.value(s.mask, env)
        try:
            if not isinstance(value, tuple) or not index:
                memory.cells[memory.position(index)] = value
            elif mask is None:
                at = memory.position(index, len(value))
                memory.cells[at : at + len(value)] = value
            else:
                for lane, (active, element) in enumerate(zip(mask, value, strict=True)):
                    if active is None:
                        raise InterpreterError("uninitialised", "a mask has a lane that was never written")
                    if active:
                        memory.cells[memory.position((*index[:-1], index[-1] + lane))] = element
        except InterpreterError as error:
            error.location = error.location or s.loc
            raise

    # ------------------------------------------------------------------------------------------------------- calls

    def call(self, s: Call, env: Env) -> Generator[Wait, Any, None]:
        if s.op.startswith("warp."):
            result = yield Wait(s, self.values(tuple(a for a in s.args if not isinstance(a, Region)), env))
            if not s.dests:
                return
            memory, at, _ = self.region(s.dests[0], env)
            memory.cells[at] = None if result is None else _as(result, memory.type)
            return
        if is_atomic(s):
            self.atomic(s, env)
            return
        target, to, count = self.region(s.dests[0], env)
        (argument,) = s.args
        if not isinstance(argument, Region):
            target.cells[to : to + count] = [self.value(argument, env)] * count
            return
        source, at, available = self.region(argument, env)
        if available != count:
            raise InterpreterError("undefined", f"a copy of {available} elements to {count}", s.loc)
        target.cells[to : to + count] = source.cells[at : at + count]

    def atomic(self, s: Call, env: Env) -> None:
        target = s.dests[0]
        memory, at, _ = self.region(target, env)
        own, seen = scalar(memory.type), scalar(operands(s)[0].type)
        values = tuple(Const(self.value(e, env), seen) for e in operands(s))
        before: Expr = Const(meaning(Load(target.buf, target.index, own))(env), own)
        held = Const(meaning(before if own is seen else Bitcast(before, seen))(env), seen)
        after = updated(s.op.removeprefix(PREFIX), held, values)
        memory.cells[at] = meaning(after if own is seen else Bitcast(after, own))(env)
        for dest in s.dests[1:]:
            kept, place, _ = self.region(dest, env)
            kept.cells[place] = held.value

    def region(self, r: Region, env: Env) -> tuple[Memory, int, int]:
        """Memory, first cell and number of cells of a region; flat, in row-major order."""
        memory: Memory = env[r.buf.uid]
        index = self.values(r.index, env)
        count = 1
        for extent in self.values(r.extent, env):
            count *= extent
        if count == 0:
            return memory, 0, 0
        try:
            at = memory.position(index)
        except InterpreterError as error:
            error.location = error.location or self.location()
            raise
        if count < 0 or at + count > len(memory.cells):
            raise InterpreterError("out_of_bounds", f"{count} elements from {at} of '{memory.name}'", self.location())
        return memory, at, count


def _as(value: Any, type_: Type) -> Any:
    """A vote's result in the destination's type; shuffles move values of it already."""
    if isinstance(type_, Vec) or isinstance(value, float):
        return value
    return conversion(DType.BOOL if isinstance(value, bool) else DType.I64, scalar(type_))(value)
