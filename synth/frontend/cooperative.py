"""Cooperative groups of CUDA and HIP: thread blocks, and tiles of a warp, as barriers, ranks and shuffles.

Source: CUDA C++ Programming Guide, appendix Cooperative Groups. A group has no state: what it means follows from its type. Groups over the
whole grid and coalesced groups are refused.
"""

from __future__ import annotations

import re

from clang.cindex import CursorKind

from synth.frontend.gpu_device import LaunchIndexes, full_mask, mask_type
from synth.frontend.reader import clang, expressions, memory
from synth.frontend.reader.arithmetic import binary, convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import NoValue, RecordValue, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import RecordType
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Call, Expr, Load, MakeVec, Region, Scope, Space, Sym, Sync

_U32, _I32 = DType.U32, DType.I32
_OPERATORS = {"plus": "add", "greater": "max", "less": "min"}
_MEMBERS = re.compile(r"(thread_block|thread_block_tile|grid_group|coalesced_group|thread_group)::(\w+)")


def call(reader: Reader, launch: LaunchIndexes, warp_size: int, name: str, call: Cursor) -> Value | None:
    """The value of a call of the cooperative groups library; None for other calls. Raises UnsupportedError for groups that are not read."""
    callee = call.referenced
    if callee is None or "cooperative_groups" not in _namespaces(callee):
        return None
    arguments = list(call.get_arguments())
    member = _MEMBERS.fullmatch(name)
    if member:
        group = _object_type(reader, call)
        return _member(reader, launch, warp_size, group, member[2], call, arguments)
    if name in ("this_thread_block", "tiled_partition", "thread_block", "thread_block_tile"):
        type_ = reader.ctype(call)
        if isinstance(type_, RecordType) and _size(type_.name, warp_size) is not None:
            return RecordValue(type_, {})
    if name == "sync":
        return _member(reader, launch, warp_size, _type_name(arguments[0]), "sync", call, [])
    if name == "reduce":
        return _reduce(reader, launch, warp_size, call, arguments)
    raise reader.refuse(f"cooperative groups function '{name}' is not supported", call, "use blocks and tiles of a warp")


def _namespaces(cursor: Cursor) -> set[str]:
    found: set[str] = set()
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        found.add(parent.spelling)
        parent = parent.semantic_parent
    return found


def _type_name(cursor: Cursor) -> str:
    return str(cursor.type.get_canonical().spelling).removeprefix("const ")


def _object_type(reader: Reader, call: Cursor) -> str:
    first = clang.strip(clang.children(call)[0])
    inner = clang.operands(first) if first.kind == CursorKind.MEMBER_REF_EXPR else []
    return _type_name(inner[0]) if inner else _type_name(first)


def _size(type_name: str, warp_size: int) -> int | None:
    """Threads of a tile; 0 for a whole block; None for groups that are not read."""
    tile = re.search(r"thread_block_tile<(\d+)", type_name)
    if tile:
        size = int(tile[1])
        return size if size <= warp_size and size & (size - 1) == 0 else None
    return 0 if type_name.endswith("thread_block") else None


def _member(reader: Reader, launch: LaunchIndexes, warp_size: int, group: str, name: str, call: Cursor, arguments: list[Cursor]) -> Value:
    size = _size(group, warp_size)
    if size is None:
        raise reader.refuse(f"group '{group}' is not supported", call, "use blocks and tiles of a warp")
    block = launch.block_dim
    total = binary("mul", binary("mul", block[0], block[1]), block[2])
    width = literal(size, _U32)
    if name == "sync":
        reader.emit(Sync(Scope.WARP if size else Scope.BLOCK, reader.location(call)))
        return NoValue()
    if name == "thread_rank":
        return binary("mod", _rank(launch), width) if size else _rank(launch)
    if name in ("size", "num_threads"):
        return width if size else total
    if name == "meta_group_rank" and size:
        return binary("div", _rank(launch), width)
    if name == "meta_group_size" and size:
        return binary("div", binary("add", total, literal(size - 1, _U32)), width)
    if name in ("group_index", "thread_index", "group_dim", "dim_threads") and not size:
        found = {"group_index": launch.block, "thread_index": launch.thread}
        return MakeVec(found.get(name, block))
    if name in ("shfl", "shfl_down", "shfl_up", "shfl_xor") and size:
        value, lane = reader.in_order(
            lambda: expressions.read_scalar(reader, arguments[0]), lambda: expressions.read_scalar(reader, arguments[1])
        )
        moved = memory.scalar_value(reader, value, call)
        return _shuffle(reader, launch, warp_size, size, f"warp.{name}", moved, memory.scalar_value(reader, lane, call), call)
    if name in ("any", "all", "ballot") and size == warp_size:
        predicate = convert(expressions.read_scalar(reader, arguments[0]), DType.BOOL)
        dtype = mask_type(warp_size) if name == "ballot" else DType.BOOL
        voted = _across(reader, f"warp.{name}", dtype, (full_mask(warp_size), predicate), call)
        result = reader.ctype(call)
        return convert(voted, result if isinstance(result, DType) else _I32)
    raise reader.refuse(f"'{name}' of group '{group}' is not supported", call, "use sync, ranks and shuffles")


def _rank(launch: LaunchIndexes) -> Expr:
    """The linear index of a thread in its block, x fastest."""
    (x, y, z), (width, height, _) = launch.thread, launch.block_dim
    rows = binary("add", binary("mul", z, height), y)
    return binary("add", binary("mul", rows, width), x)


def _shuffle(reader: Reader, launch: LaunchIndexes, warp_size: int, size: int, op: str, value: Expr, lane: Expr, call: Cursor) -> Expr:
    if not isinstance(value.type, DType):
        raise reader.refuse("a shuffle of a vector", call, "shuffle the lanes one by one")
    mask = full_mask(warp_size)
    if size < warp_size:
        first = binary(
            "mul", binary("div", binary("mod", _rank(launch), literal(warp_size, _U32)), literal(size, _U32)), literal(size, _U32)
        )
        lanes = mask_type(warp_size)
        mask = binary("shl", literal((1 << size) - 1, lanes), convert(first, lanes))
    operand = convert(lane, _U32 if op in ("warp.shfl_up", "warp.shfl_down") else _I32)
    return _across(reader, op, value.type, (mask, value, operand, literal(size, _I32)), call)


def _across(reader: Reader, op: str, dtype: DType, arguments: tuple[Expr, ...], call: Cursor) -> Expr:
    sym, where = Sym(op.removeprefix("warp.")), reader.location(call)
    reader.emit(Alloc(sym, dtype, (), Space.LOCAL, loc=where), Call(op, (Region(sym, ()),), arguments, where))
    return Load(sym, (), dtype)


def _reduce(reader: Reader, launch: LaunchIndexes, warp_size: int, call: Cursor, arguments: list[Cursor]) -> Value:
    """``reduce(tile, value, op)``: a butterfly of shuffles, which leaves the result in every thread of the tile."""
    size = _size(_type_name(arguments[0]), warp_size)
    operator = re.search(r"\b(plus|greater|less)\b", _type_name(arguments[2]))
    if not size or operator is None:
        raise reader.refuse("this reduction of a group", call, "reduce a tile with plus, greater or less")
    value = expressions.read_scalar(reader, arguments[1])
    distance = size // 2
    while distance:
        value = reader.let("partial", value, call)
        other = _shuffle(reader, launch, warp_size, size, "warp.shfl_xor", value, literal(distance, _I32), call)
        value = binary(_OPERATORS[operator[1]], value, other)
        distance //= 2
    return reader.let("reduced", value, call)
