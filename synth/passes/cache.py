"""``cache``: a tile of an array is read once into a nearer memory, and from there as often as it is needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.access import accesses
from synth.analysis.limits import bytes_of
from synth.analysis.linear import Env, env_at, to_expr
from synth.analysis.polynomial import Poly, atom_poly, const_poly
from synth.analysis.speculation import is_harmless
from synth.analysis.uniformity import block_uniformity
from synth.errors import IllegalPassError, UnsupportedError
from synth.ir.builder import add, cast, const, int_value, lt, mul, sub
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Module,
    Param,
    Return,
    Scope,
    Space,
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.ir.traversal import all_exprs, bound_symbols, find_loop, rewrite_exprs, site_names, walk, walk_expr, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.predicated import Predicated
from synth.passes.recovery_launch import LaunchParts, launches, put_together, replace_launch, take_apart
from synth.passes.tile_region import Local, Tile, position, tile_of
from synth.spec import DeviceSpec

I64 = DType.I64
SPACES = ("shared",)


@dataclass(frozen=True, slots=True)
class Cache:
    """Splits a loop of a kernel into tiles of ``factor`` iterations; before each, the threads of the block copy what they will read of
    ``buffers`` into shared memory.

    Before: ``for k in 0..K { s[] = s[] + A[i * K + k] * B[k * N + j] }`` with ``i = by * 8 + ty``, ``j = bx * 32 + tx``
    After::

        for k.tile in 0..(K + 15) / 16 {
          for e in tid..8 * 16 step 256 { A.tile[e] = A[..] }; for e in tid..16 * 32 step 256 { B.tile[e] = B[..] }; sync
          for k in k.tile * 16..min(k.tile * 16 + 16, K) { s[] = s[] + A.tile[ty * 16 + k % 16] * B.tile[k % 16 * 32 + tx] }; sync
        }
    """

    name: ClassVar[str] = "cache"
    loop: str
    buffers: tuple[str, ...]
    factor: int = 16
    space_name: str = "shared"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Loops of kernels with all arrays of which threads of a block read the same elements in a tile."""
        names = site_names(module)
        found: list[Self] = []
        for launch in launches(module).values():
            for loop in _loops_of(launch):
                for factor in (16, 32):
                    used = tuple(names[buf] for buf in _reused(module, launch, loop, factor))
                    if used:
                        found.append(cls(names[loop.sym], used, factor))
        return tuple(found)

    # The launch does not write the arrays. What a thread reads in a tile of the loop is an element of the box that the block copies before:
    # the box holds the elements of all threads and iterations, and every one that the program reads is inside the array, so that the copy,
    # which leaves out what is not, has it. A barrier lies between the copy and the reads, and between the reads and the next copy; all
    # threads reach it: those that have nothing to do in the loop go through its tiles too, its bounds and those of loops around it being
    # the same for the block. The boxes fit the memory of the block.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        try:
            found = self._plan(module, spec)
        except UnsupportedError as error:
            return Illegal(error.message, self.loop)
        return Illegal(found, self.loop) if isinstance(found, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._plan(module, spec)
        if isinstance(found, str):
            raise IllegalPassError(f"cache {self.loop}: {found}")
        return found

    def _plan(self, module: Module, spec: DeviceSpec) -> Module | str:
        loop = find_loop(module, self.loop)
        launch = next((x for x in launches(module).values() if any(s is loop for s in _loops_of(x))), None)
        if loop is None or launch is None:
            return f"there is no serial loop '{self.loop}' in a launch"
        if self.space_name not in SPACES:
            return f"'{self.space_name}' is no memory to stage in here; there is {', '.join(SPACES)}"
        if self.factor < 1 or self.factor > 1 << 10 or not self.buffers:
            return "no tile, or nothing to stage"
        names = site_names(module)
        first = loop.sym.fresh(f"{loop.sym.name}.start")
        staged: list[_Staged] = []
        for site in self.buffers:
            buf = next((s for s, name in names.items() if name == site), None)
            found = _staged(module, launch, loop, buf, self.factor, first) if buf is not None else f"there is no array '{site}'"
            if isinstance(found, str):
                return found
            staged.append(found)
        parts = take_apart(launch)
        size = sum(bytes_of(s.alloc) for s in staged) + sum(bytes_of(s) for s in parts.shared if isinstance(s, Alloc))
        if size > spec.shared_bytes:
            return f"{size} bytes of shared memory; {spec.name} allows {spec.shared_bytes}"
        emit = _Tiles(first, self.factor, tuple(staged), parts)
        varying = block_uniformity(module, launch).varying
        kernel = Predicated(loop, varying, emit.tiled).body(parts.kernel)
        new = dataclasses.replace(parts, shared=(*parts.shared, *(s.alloc for s in staged)), kernel=kernel)
        return replace_launch(module, launch, (put_together(launch, new),))


def _loops_of(launch: Launch) -> list[For]:
    """Serial loops of a kernel that can be tiled."""
    return [
        s
        for s in walk(launch.body)
        if isinstance(s, For)
        and s.axis is None
        and int_value(s.step) == 1
        and not any(isinstance(x, Sync | Call | Return | While | Break | Continue) for x in walk(s.body))
    ]


# ------------------------------------------------------------------------------------------------------------ what is read


@dataclass(frozen=True, slots=True)
class _Staged:
    """An array that is staged: its accesses in the loop, the box they read, the memory for it, and the array's extent."""

    buf: Sym
    dtype: DType
    index: tuple[Expr, ...]
    tile: Tile
    alloc: Alloc
    extent: Expr


def _reused(module: Module, launch: Launch, loop: For, factor: int) -> Iterator[Sym]:
    """Arrays of which a tile is read at least twice as often as it has elements."""
    threads = 1
    for t in take_apart(launch).threads:
        threads *= int_value(t.hi) or 1
    for buf in sorted({e.buf for e in all_exprs(loop.body) if isinstance(e, Load) and len(e.index) == 1}, key=lambda s: s.uid):
        found = _staged(module, launch, loop, buf, factor, loop.sym.fresh())
        if isinstance(found, _Staged):
            within = 1
            for s in walk(loop.body):
                if isinstance(s, For):
                    within *= max(1, int_value(s.hi) or 1)
            if threads * factor * within >= 2 * found.tile.elements:
                yield buf


def _staged(module: Module, launch: Launch, loop: For, buf: Sym, factor: int, first: Sym) -> _Staged | str:
    """What a tile reads of an array; ``first`` names the loop variable's first value in it."""
    array = _array(module, buf)
    if array is None or array.shape is None or len(array.shape) != 1 or not isinstance(array.dtype, DType):
        return f"'{buf.name}' is no flat array in memory of the device"
    if buf in written_buffers(launch.body):
        return f"the launch writes '{buf.name}'"
    loads = [e for e in all_exprs(loop.body) if isinstance(e, Load) and e.buf == buf]
    kinds = {(e.index, e.type, e.mask) for e in loads}
    if len(kinds) != 1 or loads[0].type != array.dtype or loads[0].mask is not None:
        return f"the loop reads '{buf.name}' at more than one index, in vectors, or not at all"
    env = _env_of(module, loop, loads[0])
    if env is None:
        return f"the place where '{buf.name}' is read is not found"
    locals_: list[Local] = []
    for t in take_apart(launch).threads:
        extent = int_value(t.hi)
        if extent is None:
            return "the block has no literal size"
        locals_.append(Local(Var(t.sym, t.dtype), Poly(), extent))
    start = atom_poly(Var(first, loop.dtype))
    locals_.append(Local(Var(loop.sym, loop.dtype), start, factor))
    for inner in (s for s in walk(loop.body) if isinstance(s, For)):
        lo, hi = int_value(inner.lo), int_value(inner.hi)
        if lo is not None and hi is not None and hi > lo and int_value(inner.step) == 1:
            locals_.append(Local(Var(inner.sym, inner.dtype), const_poly(lo), hi - lo))
    poly = env.normal(loads[0].index[0])
    inside = frozenset(bound_symbols(loop.body)) | block_uniformity(module, launch).varying
    tile = tile_of(poly, tuple(locals_), inside - {x.name.sym for x in locals_})
    if isinstance(tile, str) or not is_harmless(*tile.exprs()):
        return f"'{buf.name}': {tile if isinstance(tile, str) else 'an index may have no value for some threads'}"
    memory = Alloc(buf.fresh(f"{buf.name}.tile"), array.dtype, (const(tile.elements, DType.I32),), Space.SHARED)
    return _Staged(buf, array.dtype, loads[0].index, tile, memory, array.shape[0])


def _array(module: Module, buf: Sym) -> Alloc | Param | None:
    for p in module.params:
        if p.sym == buf:
            return p
    found = next((s for s in walk(module.body) if isinstance(s, Alloc) and s.sym == buf), None)
    inside = {s.sym for x in walk(module.body) if isinstance(x, Launch) for s in walk(x.body) if isinstance(s, Alloc)}
    return None if found is None or buf in inside else found


def _env_of(module: Module, loop: For, load: Load) -> Env | None:
    """What holds where the load is."""
    env = env_at(module, loop).with_loop(loop)
    return next((a.env for a in accesses(loop.body, env) if a.buf == load.buf and a.index == load.index), None)


# ----------------------------------------------------------------------------------------------------------- what is emitted


@dataclass(frozen=True, slots=True)
class _Tiles:
    """The loop in tiles."""

    first: Sym
    factor: int
    staged: tuple[_Staged, ...]
    parts: LaunchParts

    def tiled(self, loop: For, live: Expr | None, hidden: frozenset[Sym]) -> Body:
        """The loop of tiles, whose iterations a thread runs only if it is live; ``hidden`` are values that only such threads have."""
        if any(isinstance(e, Var) and e.sym in hidden for s in self.staged for x in s.tile.exprs() for e in walk_expr(x)):
            raise UnsupportedError("an index depends on a value that not all threads of a block have", loop.loc)
        kind = loop.dtype
        width, start = const(self.factor, I64), self.first
        count = sub(cast(loop.hi, I64), cast(loop.lo, I64)) if int_value(loop.lo) != 0 else cast(loop.hi, I64)
        tile = loop.sym.fresh(f"{loop.sym.name}.tile")
        tiles = Binary("div", add(count, const(self.factor - 1, I64)), width)
        first = add(cast(loop.lo, I64), mul(Var(tile, I64), width)) if int_value(loop.lo) != 0 else mul(Var(tile, I64), width)
        let = Let(start, cast(first, kind))
        begin = Var(start, kind)
        end = cast(Binary("min", add(cast(begin, I64), width), cast(loop.hi, I64)), kind)
        work: Body = (dataclasses.replace(loop, lo=begin, hi=end, body=self._from_tiles(loop.body)),)
        if live is not None:
            work = (If(live, work),)
        meet = Sync(Scope.BLOCK)
        copies = tuple(s for x in self.staged for s in self._copy(x))
        return (For(tile, I64, const(0, I64), tiles, const(1, I64), (let, *copies, meet, *work, meet), None, loop.loc),)

    def _from_tiles(self, body: Body) -> Body:
        places = {(s.buf, s.index): Load(s.alloc.sym, (_place(s.tile),), s.dtype) for s in self.staged}
        return rewrite_exprs(body, lambda e: places.get((e.buf, e.index), e) if isinstance(e, Load) else e)

    def _copy(self, s: _Staged) -> Body:
        """All threads of the block copy the box, one element each in turn, in the order of memory."""
        e, at = s.buf.fresh("e"), s.buf.fresh("at")
        number: Expr = Var(e, I64)
        index = to_expr(s.tile.base)
        below = 1
        for d in reversed(s.tile.dimensions):
            coordinate = number if below == 1 else Binary("div", number, const(below, I64))
            if below * d.extent < s.tile.elements:
                coordinate = Binary("mod", coordinate, const(d.extent, I64))
            index = add(index, mul(to_expr(d.stride), coordinate))
            below *= d.extent
        place = Var(at, I64)
        inside = Binary("land", Binary("ge", place, const(0, I64)), lt(place, cast(s.extent, I64)))
        copied = Store(s.alloc.sym, (Var(e, I64),), Load(s.buf, (place,), s.dtype))
        body: Body = (Let(at, index), If(inside, (copied,)))
        threads, mine = self._thread_number()
        return (For(e, I64, mine, const(s.tile.elements, I64), const(threads, I64), body),)

    def _thread_number(self) -> tuple[int, Expr]:
        """How many threads a block has, and which of them this one is: x counts fastest, then y, then z."""
        total, number = 1, None
        order = {Axis.THREAD_X: 0, Axis.THREAD_Y: 1, Axis.THREAD_Z: 2}
        for t in sorted(self.parts.threads, key=lambda t: order[t.axis]):  # type: ignore[index]
            own: Expr = cast(Var(t.sym, t.dtype), I64)
            own = own if total == 1 else mul(own, const(total, I64))
            size = int_value(t.hi) or 1
            if size > 1:
                number = own if number is None else add(number, own)
            total *= size
        return total, number if number is not None else const(0, I64)


def _place(tile: Tile) -> Expr:
    """The element of the box that an access reads."""
    at = Poly()
    for d in tile.dimensions:
        at = at.scaled(d.extent) + position(d)
    return to_expr(at)
