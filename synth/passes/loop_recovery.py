"""``loop_recovery``: a SIMT launch becomes serial loops."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self, TypeGuard

from synth.errors import UnsupportedError
from synth.ir import builder as b
from synth.ir.atomics import alone, is_atomic
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Alloc, Body, Call, Expr, For, Launch, Load, Module, Scope, Space, Stmt, Sym, Sync, While
from synth.ir.traversal import rewrite_stmts, substitute, walk, walk_expr, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.recovery_emit import Recovery, buffer_types, folded, sequential
from synth.passes.recovery_launch import LaunchParts, launches, replace_launch, take_apart
from synth.passes.recovery_linear import upper_bound
from synth.passes.recovery_refit import Dimension, index_value
from synth.passes.recovery_tighten import inline_indexes, tighten
from synth.passes.recovery_uniform import WARP_OPS, Level, private_buffers
from synth.passes.structurize import needs_structure
from synth.spec import DeviceSpec


def _refuse_communication(kernel: Body) -> None:
    """Raises UnsupportedError for what has no phase structure."""
    private = private_buffers(kernel)
    for stmt in walk(kernel):
        match stmt:
            case Sync(Scope.DEVICE):
                raise UnsupportedError("grid-wide barrier inside a kernel", stmt.loc, "split the kernel into two launches")
            case Call() if stmt.op not in WARP_OPS and not is_atomic(stmt):
                raise UnsupportedError(
                    f"{stmt.op} inside a kernel", stmt.loc, "threads may communicate through barriers and warp operations only"
                )
            case While() if _spins(stmt, set(private)):
                raise UnsupportedError("a loop that waits for another thread (spin lock)", stmt.loc, "use separate launches or a barrier")
            case _:
                pass


def _spins(loop: While, private: set[Sym]) -> bool:
    """Whether nothing that the condition reads changes in the loop although it reads memory that other threads can write."""
    read = {e.buf for e in walk_expr(loop.cond) if isinstance(e, Load)}
    meets = any(isinstance(s, Sync | Call) for s in walk(loop.body))
    return bool(read - private) and not read & written_buffers(loop.body) and not meets


def _thread_dimensions(parts: LaunchParts) -> tuple[tuple[Dimension, ...], dict[Sym, Expr]]:
    """Dimensions of more than one thread (z, y, x), and the value of each thread index of the launch."""
    dims: list[Dimension] = []
    values: dict[Sym, Expr] = {}
    for loop in parts.threads:
        extent = b.int_value(loop.hi)
        if extent is None:
            raise UnsupportedError(f"block size in {loop.sym.name} is not a constant", loop.loc, "bind it with --bind or -D")
        if extent == 1:
            values[loop.sym] = b.const(0, loop.dtype)
        else:
            dims.append(Dimension(loop.sym.fresh(), extent))
            values[loop.sym] = index_value(dims[-1].sym, loop.dtype)
    return tuple(dims), values


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Serial loops over the blocks (z, y, x): ``loops`` are ``(symbol, extent)``, ``values`` the block indexes of the launch."""

    loops: tuple[tuple[Sym, For], ...]
    values: dict[Sym, Expr]

    def bounds(self) -> tuple[tuple[Sym, int], ...]:
        # no grid is larger than 2^31 - 1 blocks (CUDA C++ Programming Guide, technical specifications)
        return tuple((sym, max(0, min(upper_bound(loop.hi, {}), 2**31 - 1) - 1)) for sym, loop in self.loops)

    def around(self, body: Body) -> Body:
        for sym, loop in reversed(self.loops):
            body = (For(sym, DType.I32, b.i32(0), b.cast(loop.hi, DType.I32), b.i32(1), body, loc=loop.loc),)
        return body


def _block_indexes(parts: LaunchParts) -> _Blocks:
    """A dimension of one block disappears."""
    loops: list[tuple[Sym, For]] = []
    values: dict[Sym, Expr] = {}
    for loop in parts.blocks:
        if b.int_value(loop.hi) == 1:
            values[loop.sym] = b.const(0, loop.dtype)
        else:
            loops.append((loop.sym.fresh(), loop))
            values[loop.sym] = index_value(loops[-1][0], loop.dtype)
    return _Blocks(tuple(loops), values)


def _private(stmt: Stmt) -> Stmt:
    return dataclasses.replace(stmt, space=Space.LOCAL) if isinstance(stmt, Alloc) and stmt.space is Space.SHARED else stmt


def _alone(body: Body, elements: dict[Sym, DType]) -> Body:
    """Atomic operations of threads that run one at a time are plain updates."""
    known = {**elements, **{s.sym: scalar(s.dtype) for s in walk(body) if isinstance(s, Alloc)}}
    return rewrite_stmts(body, lambda s: alone(s, known[s.dests[0].buf]) if isinstance(s, Call) and is_atomic(s) else s)


def recover(launch: Launch, warp_size: int, elements: dict[Sym, DType]) -> Body:
    """The launch as serial code; ``elements`` are the types of the buffers outside it. Raises UnsupportedError with the construct and its
    place."""
    parts = take_apart(launch)
    if needs_structure(parts.kernel):
        raise UnsupportedError(f"early exit in {launch.kernel} around a barrier", launch.loc, "apply structurize first")
    _refuse_communication(parts.kernel)
    dims, threads = _thread_dimensions(parts)
    blocks = _block_indexes(parts)
    recovery = Recovery(warp_size, blocks.bounds())
    kernel = substitute(parts.kernel, {**threads, **blocks.values})
    body = _alone(sequential(kernel, Level(Scope.BLOCK, dims), buffer_types(launch.body), recovery), elements)
    shared = substitute(tuple(_private(s) for s in parts.shared), blocks.values)
    whole = tighten(folded(blocks.around((*shared, *body))))
    return inline_indexes(whole, (), recovery.forms())


@dataclass(frozen=True, slots=True)
class LoopRecovery:
    """One launch becomes serial loops; threads are run phase by phase.

    Before::

        launch sum { for bx<4 @block.x { alloc s[64] shared;
          for tx<64 @thread.x { let v = x[bx*64 + tx];  s[tx] = v;  sync block;  y[bx*64 + tx] = v + s[63 - tx]; } } }

    After::

        for bx<4 { alloc s[64];  alloc v[64];
          for tx<64 { let v' = x[bx*64 + tx];  v[tx] = v';  s[tx] = v'; }
          for tx<64 { y[bx*64 + tx] = v[tx] + s[63 - tx]; } }

    ``kernel``: the launch's site. ``warp_size``: lanes of a warp on the source's device.
    """

    name: ClassVar[str] = "loop_recovery"
    kernel: str = ""
    warp_size: int = 32

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        return tuple(cls(site, module.warp_size) for site in launches(module))

    # A race-free, barrier-convergent kernel gives the same result under every schedule that respects its meeting points; the rewrite picks
    # one:
    #   blocks in increasing order (blocks do not wait for each other: grid barriers and spin waits are refused by name);
    #   between two meeting points, each thread runs to the next one before the next thread starts, so that an atomic operation, whose order
    #   among the threads is free, is an update that nothing interrupts;
    #   a meeting point in control flow requires that all live threads of the block (or the active lanes of the warp) reach it together:
    #   conditions and loop ranges around it are uniform, or guard the rest of the thread's life (early exit), or, for warp operations,
    #   select the lanes.
    # Private values that live across a meeting point are kept per thread. Uninitialised values stay uninitialised.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        launch = launches(module).get(self.kernel)
        if launch is None:
            return Illegal("no such launch", self.kernel)
        try:
            recover(launch, self.warp_size, _elements(module))
        except UnsupportedError as refusal:
            return Illegal(str(refusal), self.kernel)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        launch = launches(module)[self.kernel]
        new = replace_launch(module, launch, recover(launch, self.warp_size, _elements(module)))
        return new if launches(new) else _host_only(new)


def _elements(module: Module) -> dict[Sym, DType]:
    """The element types of all buffers of a module."""
    found = {p.sym: p.dtype for p in module.params if p.is_buffer}
    return found | {s.sym: scalar(s.dtype) for s in walk(module.body) if isinstance(s, Alloc)}


def _host_only(module: Module) -> Module:
    """A module without launches is plain C: what was device memory is memory."""
    params = tuple(dataclasses.replace(p, space=Space.HOST) if p.space is Space.GLOBAL else p for p in module.params)
    body = rewrite_stmts(module.body, lambda s: dataclasses.replace(s, space=Space.HOST) if _is_device(s) else s)
    return dataclasses.replace(module, params=params, body=body, dialect="c")


def _is_device(stmt: Stmt) -> TypeGuard[Alloc]:
    return isinstance(stmt, Alloc) and stmt.space is Space.GLOBAL
