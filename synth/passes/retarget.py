"""``retarget``: launches for another GPU. Axes, shared memory and what each thread does stay; warp operations are made for warps of another
size."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.limits import exceeded_limits
from synth.analysis.linear import env_at
from synth.analysis.uniformity import block_uniformity, warp_uniformity
from synth.errors import IllegalPassError
from synth.ir.builder import cast, const, int_value
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Call,
    Cast,
    Expr,
    For,
    Launch,
    Load,
    Module,
    Region,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    Var,
)
from synth.ir.traversal import bodies, replace_stmt, rewrite_stmts, walk, with_bodies
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

_THREADS = (Axis.THREAD_X, Axis.THREAD_Y, Axis.THREAD_Z)


@dataclass(frozen=True, slots=True)
class Retarget:
    """Makes launches that were written for warps of one size run on a device whose warps have another size.

    Before, for warps of 32 lanes::

        call warp.shfl_down(&t; 4294967295u32, v, d, 32)
        call warp.ballot(&b; 4294967295u32, p)

    After, for warps of 64 lanes (two of the program's warps in one)::

        call warp.shfl_down(&t; 4294967295u64 << (tx & 32), v, d & 31, 32)
        alloc ballot: u64[] local
        call warp.ballot(&ballot; 4294967295u64 << (tx & 32), p)
        b = cast<u32>(ballot >> (tx & 32))

    ``dialect`` is what the module is lowered to, ``warp_size`` the lanes of its warps.
    """

    name: ClassVar[str] = "retarget"
    dialect: str
    warp_size: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """To the device, where the module is for another one."""
        wanted = cls(spec.dialect, spec.warp_size)
        here = (module.dialect, module.warp_size) == (spec.dialect, spec.warp_size)
        return () if here or not _launches(module.body) else (wanted,)

    # Let S be the lanes of the program's warps, T those of the device's, both powers of two, and i the linear index of a thread in its
    # block. A thread is lane i % S of warp i / S of the program. The launches keep their meaning where every warp operation and every
    # barrier of a warp is one of these:
    #   S = T: itself.
    #   S < T: warp i / S of the program is the lanes base .. base + S - 1 of the device's warp i / T, with base = i & (T - S). An operation
    #     over the program's mask m is the one over m << base: the same threads meet. Segments of width w <= S do not cross a warp of the
    #     program, so a shuffle reads from the same thread where its operand is below S, which the program's own operation has it be
    #     (operand & (S - 1)). Ballots and active masks give the lanes of the whole warp: shifted by base, the low S bits are the program's.
    #   S > T, blocks of at most T threads: there is one warp, of whose lanes those from T on do not exist: the same mask; what reads from a
    #     lane from T on is undefined in the program. A shuffle's width above T reaches no thread further than T.
    #   S > T, a shuffle in segments of a literal width <= T whose operand is a literal below T: segments lie within a warp of the device,
    #     whose mask is the program's shifted back by base = i & (S - T). Votes and ballots over a warp of the program have no such form.
    #   A barrier of a warp: of all lanes of the device's warp, where the device's warps reach it as a whole; of the lanes in the mask
    #     (the program's warp) for S < T elsewhere; of the block for S > T, where whole blocks reach it. Meeting more threads orders more.
    # and the module keeps within the limits of the device.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        if (self.dialect, self.warp_size) != (spec.dialect, spec.warp_size):
            return Illegal(f"the target is {spec.name}: {spec.dialect} with warps of {spec.warp_size}")
        try:
            new = self._lowered(module)
        except IllegalPassError as refusal:
            return Illegal(str(refusal))
        broken = exceeded_limits(new, spec)
        return Illegal(broken[0]) if broken else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        return self._lowered(module)

    def _lowered(self, module: Module) -> Module:
        renamed = dataclasses.replace(module, dialect=self.dialect, warp_size=self.warp_size)
        if module.warp_size == self.warp_size:
            return renamed
        operations = dataclasses.replace(renamed, body=_operations(module, module.body, self.warp_size))
        return dataclasses.replace(renamed, body=_barriers(operations, operations.body, module.warp_size))


def _operations(module: Module, body: Body, target: int) -> Body:
    """The body with the warp operations of its launches lowered; everything else is the same objects."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Launch):
            warps = _Warps.of(module, s, module.warp_size, target)
            out.append(dataclasses.replace(s, body=rewrite_stmts(s.body, warps.operation)))
        else:
            out.append(with_bodies(s, tuple(_operations(module, b, target) for b in bodies(s))) if bodies(s) else s)
    return tuple(out)


def _barriers(module: Module, body: Body, source: int) -> Body:
    """The body with the barriers of warps of ``source`` lanes lowered, in a module whose warp operations are the device's already."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Launch):
            together = _reached_together(module, s, blocks=source > module.warp_size)
            warps = _Warps.of(module, s, source, module.warp_size)
            lowered = rewrite_stmts(s.body, lambda x, w=warps, t=together: w.barrier(x, id(x) in t))  # type: ignore[misc]
            out.append(dataclasses.replace(s, body=lowered))
        else:
            out.append(with_bodies(s, tuple(_barriers(module, b, source) for b in bodies(s))) if bodies(s) else s)
    return tuple(out)


def _reached_together(module: Module, launch: Launch, blocks: bool) -> frozenset[int]:
    """The barriers of warps, by identity, that all live threads of the device's warps (or of ``blocks``) reach together."""
    barriers = [s for s in walk(launch.body) if _is_warp_barrier(s)]
    if not barriers:
        return frozenset()
    if not blocks:
        apart = {id(s) for s in warp_uniformity(module, launch, module.warp_size).divergent}
        return frozenset(id(s) for s in barriers if id(s) not in apart)
    made: list[Sync] = []

    def of_block(s: Stmt) -> Stmt:
        if isinstance(s, Sync) and s.scope is Scope.WARP:
            made.append(Sync(Scope.BLOCK, s.loc))
            return made[-1]
        return s

    wider = dataclasses.replace(launch, body=rewrite_stmts(launch.body, of_block))
    whole = dataclasses.replace(module, body=replace_stmt(module.body, launch, wider))
    apart = {id(s) for s in block_uniformity(whole, wider).divergent}
    return frozenset(id(s) for s, m in zip(barriers, made, strict=True) if id(m) not in apart)


def _is_warp_barrier(s: Stmt) -> bool:
    return isinstance(s, Sync) and s.scope is Scope.WARP


def _launches(body: Body) -> bool:
    return any(isinstance(s, Launch) for s in walk(body))


@dataclass(frozen=True, slots=True)
class _Warps:
    """One launch: ``source`` and ``target`` are the lanes of a warp, ``index`` is the linear index of a thread (u32), ``threads`` their
    number when it is known."""

    module: Module
    source: int
    target: int
    index: Expr
    threads: int | None

    @classmethod
    def of(cls, module: Module, launch: Launch, source: int, target: int) -> _Warps:
        loops = {s.axis: s for s in walk(launch.body) if isinstance(s, For) and s.axis is not None and s.axis.is_thread}
        sizes = [int_value(loops[a].hi) for a in _THREADS]
        known = [s for s in sizes if s is not None]
        threads = math.prod(known) if len(known) == len(sizes) else None
        return cls(module, source, target, _linear(loops), threads)

    @property
    def one_warp(self) -> bool:
        """Whether a block is one (partial) warp both here and there."""
        return self.threads is not None and self.threads <= min(self.source, self.target)

    @property
    def lanes(self) -> DType:
        return DType.U64 if self.target > 32 else DType.U32

    def base(self, type_: DType) -> Expr | None:
        """The first lane of the smaller warp in the larger one; None for 0."""
        if self.one_warp:
            return None
        smaller, larger = sorted((self.source, self.target))
        return cast(Binary("and", self.index, const(larger - smaller, DType.U32)), type_)

    # ------------------------------------------------------------------------------------------------- statements

    def operation(self, s: Stmt) -> Stmt | Body:
        if not isinstance(s, Call) or not s.op.startswith("warp."):
            return s
        if self.source > self.target and not self.one_warp:
            return self.narrowed(s)
        if s.op.startswith("warp.shfl"):
            return self.shuffle(s)
        if s.op in ("warp.ballot", "warp.activemask"):
            return self.lane_set(s)
        return dataclasses.replace(s, args=(self.mask(_value(s, 0)), *s.args[1:]))

    def barrier(self, s: Stmt, together: bool) -> Stmt:
        if not isinstance(s, Sync) or s.scope is not Scope.WARP or self.one_warp or (self.source < self.target and together):
            return s
        if self.source < self.target:
            full = const((1 << self.source) - 1, self.lanes)
            return Call("warp.sync", (), (self.mask(full),), s.loc)
        if together:
            return Sync(Scope.BLOCK, s.loc)
        raise IllegalPassError(
            f"a barrier of warps of {self.source} lanes that not all threads of the block reach, at {s.loc}: "
            f"the device has warps of {self.target}"
        )

    def mask(self, mask: Expr) -> Expr:
        """A mask of the program's lanes as one of the device's."""
        base = self.base(self.lanes)
        wide = cast(mask, self.lanes) if int_value(mask) is None else const((int_value(mask) or 0) & self._all(self.target), self.lanes)
        return wide if base is None else Binary("shl", wide, base)

    def _all(self, lanes: int) -> int:
        return (1 << lanes) - 1

    def shuffle(self, s: Call) -> Stmt:
        mask, value, operand, width = (_value(s, i) for i in range(4))
        if self.one_warp and self.source > self.target:
            narrow = int_value(width)
            if narrow is None:
                raise IllegalPassError(f"a shuffle whose width is computed, at {s.loc}: the device has warps of {self.target}")
            width = const(min(narrow, self.target), DType.I32)
            operand = self.below(s, operand, narrow, self.target)
            return dataclasses.replace(s, args=(self.mask(mask), value, operand, width))
        return dataclasses.replace(s, args=(self.mask(mask), value, self.wrapped(s, operand), width))

    def wrapped(self, s: Call, operand: Expr) -> Expr:
        """The operand as the program's own operation takes it: modulo its warp."""
        if s.op == "warp.shfl":
            return operand  # taken modulo the width, which divides both
        known = env_at(self.module, s).range_of(operand)
        if known.lo is not None and known.hi is not None and known.lo >= 0 and known.hi < self.source:
            return operand
        assert isinstance(operand.type, DType)
        return Binary("and", operand, const(self.source - 1, operand.type))

    def below(self, s: Call, operand: Expr, width: int, limit: int) -> Expr:
        """The operand where it is known to be below ``limit``, or taken modulo a width that is no larger."""
        if s.op == "warp.shfl" and width <= limit:
            return operand
        known = env_at(self.module, s).range_of(operand)
        if known.lo is not None and known.hi is not None and known.lo >= 0 and known.hi < limit:
            return operand
        raise IllegalPassError(
            f"a shuffle over {width} lanes by an operand not known to be below {limit}, at {s.loc}: the device has warps of {limit}"
        )

    def lane_set(self, s: Call) -> Body:
        """Ballots and active masks: the lanes of the program's warp."""
        (target,) = s.dests
        wide = Sym(s.op.removeprefix("warp."))
        args = (self.mask(_value(s, 0)), *s.args[1:]) if s.args else ()
        base = self.base(self.lanes)
        found: Expr = Load(wide, (), self.lanes)
        if base is not None:
            found = Binary("shr", found, base)
        return (
            Alloc(wide, self.lanes, (), Space.LOCAL, loc=s.loc),
            Call(s.op, (Region(wide, ()),), args, s.loc),
            Store(target.buf, target.index, Cast(found, DType.U64 if self.source > 32 else DType.U32), loc=s.loc),
        )

    def narrowed(self, s: Call) -> Stmt:
        """A shuffle within a part of a larger warp of the program."""
        width = int_value(_value(s, 3)) if s.op.startswith("warp.shfl") else None
        if width is None or width > self.target:
            what = "over the whole warp" if s.op.startswith("warp.shfl") else f"({s.op})"
            raise IllegalPassError(f"a warp operation {what} of {self.source} lanes, at {s.loc}: the device has warps of {self.target}")
        operand = self.below(s, _value(s, 2), width, self.target)
        base = self.base(DType.U64)
        mask: Expr = _value(s, 0)
        if int_value(mask) == self._all(self.source):
            mask = const(self._all(self.target), self.lanes)
        else:
            mask = Cast(mask if base is None else Binary("shr", mask, base), self.lanes)
        return dataclasses.replace(s, args=(mask, _value(s, 1), operand, _value(s, 3)))


def _value(s: Call, position: int) -> Expr:
    argument = s.args[position]
    if isinstance(argument, Region):
        raise IllegalPassError(f"{s.op} over memory, at {s.loc}")
    return argument


def _linear(loops: Mapping[Axis, For]) -> Expr:
    """The linear index of a thread in its block, x fastest; dimensions of one thread are left out."""
    x, y, z = (loops[a] for a in _THREADS)
    found: Expr = const(0, DType.U32)
    for loop in (z, y, x):
        extent = int_value(loop.hi)
        if int_value(found) != 0:
            found = Binary("mul", found, cast(loop.hi, DType.U32))
        if extent != 1:
            thread = cast(Var(loop.sym, loop.dtype), DType.U32)
            found = thread if int_value(found) == 0 else Binary("add", found, thread)
    return found
