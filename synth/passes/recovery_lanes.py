"""Warp operations as reads of an array over the lanes.

Each lane publishes its operand in an array; after the meeting point each lane reads the elements that the operation names. The semantics
are those of the CUDA C++ Programming Guide, "Warp Vote Functions" and "Warp Shuffle Functions", and of ``shfl.sync`` in the PTX ISA. CUDA
leaves undefined what a lane reads from a lane that does not take part, and requires that the mask names exactly the lanes that take part:
the rewrite relies on it (here such a read gives an unspecified value).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.errors import UnsupportedError
from synth.ir import builder as b
from synth.ir.dtypes import DType, Type
from synth.ir.grammar import Alloc, Binary, Call, Expr, For, If, Load, Region, Select, Space, Stmt, Store, Sym, Unary
from synth.passes.recovery_uniform import Level


@dataclass(frozen=True, slots=True)
class Exchange:
    """``storage`` and ``once`` run once (before publishing, and after the meeting point); ``publish`` and ``receive`` in every lane."""

    storage: tuple[Stmt, ...]
    publish: tuple[Stmt, ...]
    once: tuple[Stmt, ...]
    receive: tuple[Stmt, ...]


def exchange(call: Call, level: Level, uniform: bool, guarded: bool, types: Mapping[Sym, Type]) -> Exchange:
    """The rewrite of one warp operation. With ``uniform`` all lanes receive the same, and it is computed once; with ``guarded`` some lanes
    may not take part. ``types``: element types of buffers."""
    if call.op.startswith("warp.shfl"):
        return _shuffle(call, level, uniform)
    return _vote(call, level, uniform, guarded, types)


def _operand(call: Call, i: int) -> Expr:
    arg = call.args[i]
    if isinstance(arg, Region):
        raise UnsupportedError(f"{call.op} over a buffer region", call.loc)
    return arg


def _write(dest: Region, value: Expr, call: Call) -> Store:
    return Store(dest.buf, dest.index, value, loc=call.loc)


def _lane(level: Level) -> Expr:
    """The lane's number; 0 in a warp of one lane."""
    return b.var(level.dims[0].sym) if level.dims else b.i32(0)


def _slots(level: Level) -> int:
    return level.dims[0].extent if level.dims else 1


# ---------------------------------------------------------------------------------------------------------- shuffle


def _to_i32(expr: Expr) -> Expr:
    return b.cast(expr, DType.I32)


def _i32(op: str, x: Expr, y: Expr) -> Expr:
    return Binary(op, x, y)


# Source lane by operation, for lane l, operand d, segment width w (a power of two; base = l & ~(w-1)):
#   shfl       base | (d & (w-1))
#   shfl_up    l - d   if (l & (w-1)) >= d, else l
#   shfl_down  l + d   if (l & (w-1)) + d < w, else l
#   shfl_xor   l ^ d   if (l ^ d) < base + w (lanes of earlier segments may be read), else l
def source_lane(op: str, lane: Expr, delta: Expr, width: Expr, whole: bool) -> tuple[Expr, Expr | None]:
    """``(source, valid)`` over ``i32``: the lane to read where ``valid`` (None: always), else the lane's own. ``whole``: width is the
    warp."""
    low = lane if whole else _i32("and", lane, _i32("sub", width, b.i32(1)))
    match op:
        case "warp.shfl":
            offset = _i32("and", delta, _i32("sub", width, b.i32(1)))
            return (offset if whole else _i32("or", _i32("sub", lane, low), offset)), None
        case "warp.shfl_up":
            return _i32("sub", lane, delta), _i32("ge", low, delta)
        case "warp.shfl_down":
            return _i32("add", lane, delta), _i32("lt", _i32("add", low, delta), width)
        case _:
            source = _i32("xor", lane, delta)
            return source, _i32("lt", source, _i32("add", _i32("sub", lane, low), width))


def _shuffle(call: Call, level: Level, uniform: bool) -> Exchange:
    value, delta, width = _operand(call, 1), _to_i32(_operand(call, 2)), _to_i32(_operand(call, 3))
    slots = _slots(level)
    if not isinstance(value.type, DType):
        raise UnsupportedError(f"{call.op} of a vector", call.loc)
    amount = b.int_value(delta)
    if amount is not None and not 0 <= amount < level.lanes and call.op != "warp.shfl":
        raise UnsupportedError(f"{call.op} by {amount} lanes in a warp of {level.lanes}", call.loc)
    buffer = Sym("lanes")
    storage = (Alloc(buffer, value.type, (b.i32(slots),), Space.LOCAL, loc=call.loc),)
    publish = (Store(buffer, (_lane(level),), value, loc=call.loc),)
    segment = b.int_value(width)
    if segment is not None and (segment <= 0 or segment > level.lanes or segment & (segment - 1)):
        raise UnsupportedError(f"{call.op} with width {segment}", call.loc, f"a power of two up to {level.lanes}")
    source, valid = source_lane(call.op, _lane(level), delta, width, segment == level.lanes)
    read: Expr = Load(buffer, (source,), value.type)
    if valid is not None:
        read = Select(valid, read, Load(buffer, (_lane(level),), value.type))
    receive = tuple(_write(d, read, call) for d in call.dests)
    return Exchange(storage, publish, receive if uniform else (), () if uniform else receive)


# ------------------------------------------------------------------------------------------------------------- votes


def _vote(call: Call, level: Level, uniform: bool, guarded: bool, types: Mapping[Sym, Type]) -> Exchange:
    """``any``/``all``/``ballot``/``activemask``: a loop over the lanes that the caller's mask names and that take part."""
    takes_part, holds = Sym("takes_part"), Sym("holds")
    count = b.i32(_slots(level))
    slot = (_lane(level),)
    predicate: Expr = b.true() if call.op == "warp.activemask" else _operand(call, 1)
    storage: list[Stmt] = [Alloc(holds, DType.BOOL, (count,), Space.LOCAL, loc=call.loc)]
    publish: list[Stmt] = [Store(holds, slot, predicate, loc=call.loc)]
    if guarded:
        clear = Sym("lane")
        storage.append(Alloc(takes_part, DType.BOOL, (count,), Space.LOCAL, loc=call.loc))
        store = Store(takes_part, (b.var(clear),), b.const(False, DType.BOOL))
        storage.append(For(clear, DType.I32, b.i32(0), count, b.i32(1), (store,)))
        publish.append(Store(takes_part, slot, b.true()))
    fold = _fold(call, level, holds, takes_part if guarded else None, types)
    return Exchange(tuple(storage), tuple(publish), fold if uniform else (), () if uniform else fold)


def _fold(call: Call, level: Level, holds: Sym, takes_part: Sym | None, types: Mapping[Sym, Type]) -> tuple[Stmt, ...]:
    result = Sym("vote")
    other = Sym("lane")
    at = b.var(other)
    bits = call.op in ("warp.ballot", "warp.activemask")
    kind = DType.U64 if bits and level.lanes > 32 else DType.U32 if bits else DType.BOOL
    start = b.const(call.op == "warp.all" if kind is DType.BOOL else 0, kind)
    seen: Expr = Load(holds, (at,), DType.BOOL)
    if call.op == "warp.all":
        seen = Unary("lnot", seen)
    conditions: list[Expr] = []
    if call.op != "warp.activemask":
        mask = _operand(call, 0)
        if b.int_value(mask) not in ((1 << level.lanes) - 1, -1):
            named = Binary("and", Binary("shr", mask, b.cast(at, mask.type)), b.const(1, mask.type))  # type: ignore[arg-type]
            conditions.append(Binary("ne", named, b.const(0, mask.type)))  # type: ignore[arg-type]
    if takes_part is not None:
        conditions.append(Load(takes_part, (at,), DType.BOOL))
    conditions.append(seen)
    cond = conditions[0]
    for more in conditions[1:]:
        cond = b.land(cond, more)
    if bits:
        update: Expr = Binary("or", Load(result, (), kind), Binary("shl", b.const(1, kind), b.cast(at, kind)))
    else:
        update = b.const(call.op == "warp.any", kind)
    loop = For(other, DType.I32, b.i32(0), b.i32(_slots(level)), b.i32(1), (If(cond, (Store(result, (), update),)),))
    head = (Alloc(result, kind, (), Space.LOCAL, loc=call.loc), Store(result, (), start), loop)
    return (*head, *(_write(d, b.cast(Load(result, (), kind), types.get(d.buf, kind)), call) for d in call.dests))
