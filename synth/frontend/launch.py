"""Kernel launches: ``kernel<<<grid, block, bytes, stream>>>(arguments)`` as a ``Launch`` with its six loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clang.cindex import CursorKind

from synth.frontend import gpu_device, known
from synth.frontend.gpu_device import LaunchIndexes, Triple
from synth.frontend.reader import clang, expressions, functions, memory
from synth.frontend.reader.arithmetic import convert, lane, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import ArrayValue, NoValue, PlacePointer, Pointer, RecordValue, Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import (
    Axis,
    Body,
    Const,
    Expr,
    For,
    Launch,
    Location,
    MakeVec,
    Sym,
    Var,
)

if TYPE_CHECKING:
    from synth.frontend.gpu_host import GpuHost

_U32 = DType.U32
_CONFIGURATION = ("__cudaPushCallConfiguration", "cudaConfigureCall", "__hipPushCallConfiguration", "hipConfigureCall")
_BLOCK_AXES = (Axis.BLOCK_X, Axis.BLOCK_Y, Axis.BLOCK_Z)
_THREAD_AXES = (Axis.THREAD_X, Axis.THREAD_Y, Axis.THREAD_Z)


def configuration(call: Cursor) -> Cursor | None:
    """The ``<<<...>>>`` of a call, which clang shows as a call of the runtime's configuration function; None for other calls."""
    for child in call.get_children():
        if child.kind == CursorKind.CALL_EXPR and child.spelling in _CONFIGURATION:
            return child
    return None


def launches(function: Cursor) -> bool:
    """Whether a body contains a launch."""
    return any(node.kind == CursorKind.CALL_EXPR and configuration(node) is not None for node in function.walk_preorder())


def read(host: GpuHost, reader: Reader, kernel: Cursor, call: Cursor) -> Value:
    """Emits one launch. The arguments are evaluated on the host, once."""
    if host.on_device:
        raise reader.refuse(f"kernel '{kernel.spelling}' is launched from a kernel", call, "launch it from the host")
    chosen = configuration(call)
    assert chosen is not None
    parts = list(chosen.get_arguments())
    grid = _dimensions(reader, "grid", parts[0])
    block = _dimensions(reader, "block", parts[1])
    shared = (
        known.resolved(reader, expressions.read_scalar(reader, parts[2]))
        if len(parts) > 2 and parts[2].location.line > 0
        else literal(0, DType.U64)
    )
    if len(parts) > 3 and parts[3].location.line > 0 and clang.strip(parts[3]).kind != CursorKind.INTEGER_LITERAL:
        reader.note("the stream of a launch is ignored: launches run in the order of the program", call)
    given = list(call.get_arguments())
    declared = clang.parameters(kernel)
    values: list[Value] = []
    for i, parameter in enumerate(declared):
        argument = functions.argument_cursor(given, i, parameter)
        value = expressions.convert_value(reader, expressions.read_value(reader, argument), reader.ctype(parameter), argument)
        values.append(_settled(reader, value, parameter.spelling))
    emit(host, reader, kernel, values, grid, block, shared, reader.location(call))
    return NoValue()


def emit(
    host: GpuHost,
    reader: Reader,
    kernel: Cursor,
    values: Sequence[Value],
    grid: Triple,
    block: Triple,
    shared_bytes: Expr,
    where: Location,
) -> None:
    """Reads ``kernel`` with these arguments and emits the ``Launch``."""
    bytes_ = int(shared_bytes.value) if isinstance(shared_bytes, Const) else reader.let("dynamic.bytes", shared_bytes)
    blocks, threads = [Sym(f"b{c}") for c in "xyz"], [Sym(f"t{c}") for c in "xyz"]
    indexes = LaunchIndexes(
        thread=_variables(threads), block=_variables(blocks), block_dim=block, grid_dim=grid, dynamic_shared_bytes=bytes_
    )
    shared, body = gpu_device.read_kernel(reader, host, kernel, values, indexes)
    inner = _nest(body, threads, block, _THREAD_AXES, where)
    reader.emit(Launch(kernel.spelling, _nest((*shared, *inner), blocks, grid, _BLOCK_AXES, where), where))


def _variables(syms: Sequence[Sym]) -> Triple:
    x, y, z = (Var(s, _U32) for s in syms)
    return x, y, z


def _nest(body: Body, syms: Sequence[Sym], extents: Triple, axes: Sequence[Axis], where: Location) -> Body:
    for sym, extent, axis in zip(syms, extents, axes, strict=True):
        body = (For(sym, _U32, literal(0, _U32), extent, literal(1, _U32), body, axis, where),)
    return body


def constants(triple: tuple[int, int, int]) -> Triple:
    x, y, z = (literal(n, _U32) for n in triple)
    return x, y, z


# ------------------------------------------------------------------------------------------------- host-side values


def _dimensions(reader: Reader, name: str, cursor: Cursor) -> Triple:
    value = memory.scalar_value(reader, expressions.read_value(reader, cursor), cursor)
    value = known.resolved(reader, value)
    if not isinstance(value.type, Vec):
        value = MakeVec((convert(value, _U32), literal(1, _U32), literal(1, _U32)))
    x, y, z = (reader.let(f"{name}.{c}", known.resolved(reader, lane(value, i)), cursor) for i, c in enumerate("xyz"))
    return x, y, z


def _settled(reader: Reader, value: Value, name: str) -> Value:
    """An argument as of now, with what is known of the host's variables put in."""
    match value:
        case Pointer():
            offset = reader.let(name or "offset", known.resolved(reader, value.offset))
            return Pointer(value.buffer, offset, value.unit, value.pointee, value.const)
        case RecordValue(type_, fields):
            return RecordValue(type_, {n: _settled(reader, v, n) for n, v in fields.items()})
        case PlacePointer() | NoValue() | ArrayValue():
            return value
        case _:
            return reader.snapshot(known.resolved(reader, value), name or "argument")
