"""Device code of CUDA and HIP: index builtins, barriers, warp shuffles and votes, shared memory, read-only loads, vector constructors.

Source: CUDA C++ Programming Guide, sections "Built-in Variables", "Synchronization Functions", "Warp Vote Functions", "Warp Shuffle
Functions", "Read-Only Data Cache Load Function", "Variable Memory Space Specifiers"; HIP Programming Guide, sections of the same names.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clang.cindex import CursorKind, StorageClass

from synth.frontend import halves, sizes
from synth.frontend.atomics import read_atomic, without_unused_results
from synth.frontend.gpu_language import GpuLanguage
from synth.frontend.integer_intrinsics import read_integer
from synth.frontend.reader import clang, declarations, expressions, facts, functions, memory, statements
from synth.frontend.reader.arithmetic import convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.dialect import Dialect
from synth.frontend.reader.places import ZERO, Buffer, Memory, NoValue, Place, Pointer, Value
from synth.frontend.reader.reader import Function, Reader
from synth.frontend.reader.types import VECTOR_RECORDS, ArrayType, CType, ctype_of, describe, element_dtype
from synth.frontend.warp_reductions import read_reduction
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Alloc, Bitcast, Body, Call, Const, Expr, Load, MakeVec, Region, Scope, Space, Stmt, Sym, Sync, Var
from synth.spec import DeviceSpec

_U32, _I32 = DType.U32, DType.I32
_ZEROED_ELEMENTS = 4096  # longest device variable whose zeros are listed in its ``Alloc``

Triple = tuple[Expr, Expr, Expr]


@dataclass(frozen=True, slots=True)
class LaunchIndexes:
    """What the index builtins of one launch are, x first, all u32: ``thread`` and ``block`` are the loop variables (``Var``), ``block_dim``
    and ``grid_dim`` the launch's expressions. ``dynamic_shared_bytes`` is the third launch parameter: an expression of the host."""

    thread: Triple
    block: Triple
    block_dim: Triple
    grid_dim: Triple
    dynamic_shared_bytes: int | Expr = 0


def mask_type(warp_size: int) -> DType:
    """The type of a mask of lanes in the IR: one bit a lane."""
    return DType.U64 if warp_size > 32 else _U32


def full_mask(warp_size: int) -> Expr:
    """The mask that names all lanes."""
    return literal((1 << warp_size) - 1, mask_type(warp_size))


@dataclass
class GpuDevice(Dialect):
    """The hooks for device code. ``shared`` collects the shared ``Alloc``s of the kernel being read, to stand between the block loops and
    the thread loops."""

    language: GpuLanguage
    spec: DeviceSpec
    launch: LaunchIndexes | None = None
    shared: list[Stmt] = field(default_factory=list)
    shared_places: dict[int, Place] = field(default_factory=dict)
    dynamic: Buffer | None = None
    device_globals: dict[int, Place] = field(default_factory=dict)

    @property
    def warp_size(self) -> int:
        return self.spec.warp_size

    def record(self, name: str) -> CType | None:
        return Vec(_U32, 3) if name == "dim3" else VECTOR_RECORDS.get(name) or halves.RECORDS.get(name)

    def variable(self, reader: Reader, declaration: Cursor, where: Cursor) -> Place | Value | None:
        name = declaration.spelling
        if name == "warpSize":
            return literal(self.warp_size, _I32)
        if name not in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            return None
        if self.launch is None:
            raise reader.refuse(f"'{name}' outside a kernel", where, "call the function from a kernel")
        found = {
            "threadIdx": self.launch.thread,
            "blockIdx": self.launch.block,
            "blockDim": self.launch.block_dim,
            "gridDim": self.launch.grid_dim,
        }
        return MakeVec(found[name])

    def declare(self, reader: Reader, declaration: Cursor) -> Place | None:
        attributes = {c.kind for c in declaration.get_children() if c.kind.is_attribute()}
        if CursorKind.CUDASHARED_ATTR in attributes:
            key = clang.declaration_key(declaration)
            if key not in self.shared_places:
                self.shared_places[key] = self._shared(reader, declaration)
            return self.shared_places[key]
        if attributes & {CursorKind.CUDACONSTANT_ATTR, CursorKind.CUDADEVICE_ATTR} and not _has_constant_value(declaration):
            return self._global(reader, declaration, CursorKind.CUDACONSTANT_ATTR in attributes)
        return None

    def call(self, reader: Reader, name: str, call: Cursor) -> Place | Value | None:
        arguments = list(call.get_arguments())
        handler = self.language.calls.get(name) or _CALLS.get(name)
        if handler is not None:
            return handler(self, reader, call, arguments)
        if name.startswith("make_") and name[5:] in VECTOR_RECORDS:
            return _make_vector(reader, VECTOR_RECORDS[name[5:]], arguments)
        shuffle = re.fullmatch(r"__shfl(|_up|_down|_xor)(|_sync)", name)
        if shuffle:
            return _shuffle(self, reader, call, "warp.shfl" + shuffle[1], arguments, masked=bool(shuffle[2]))
        vote = re.fullmatch(r"__(all|any|ballot)(|_sync)", name)
        if vote:
            return _vote(self, reader, call, vote[1], arguments, masked=bool(vote[2]))
        reduction = re.fullmatch(r"__reduce_(add|min|max|and|or|xor)_sync", name)
        if reduction:
            return read_reduction(reader, reduction[1], full_mask(self.warp_size), self.warp_size, call, arguments)
        for read in (halves.read_half, read_atomic, read_integer):
            found = read(reader, name, call, arguments)
            if found is not None:
                return found
        for pattern, what in _REFUSED:
            if re.fullmatch(pattern, name):
                raise reader.refuse(f"{what} '{name}' is not supported yet", call, "see docs for the constructs that are read")
        return None

    # ------------------------------------------------------------------------------------------------ memory spaces

    def _shared(self, reader: Reader, declaration: Cursor) -> Place:
        declarations.refuse_volatile(reader, declaration)
        type_ = reader.ctype(declaration)
        if declaration.storage_class == StorageClass.EXTERN:
            return self._dynamic(reader, declaration, type_)
        found = facts.facts_of(reader.unit, reader.function.cursor) if reader.function is not None else facts.Facts()
        key = clang.declaration_key(declaration)
        with reader.body() as emitted:
            if isinstance(type_, ArrayType):
                flat = key in found.flat or key in found.addressed
                place, _ = declarations.make_array(reader, declaration, type_, None, flat=flat, space=Space.SHARED)
            else:
                addressed = key in found.addressed
                place = declarations.allocate(reader, declaration.spelling, type_, declaration, addressed=addressed, space=Space.SHARED)
        self.shared.extend(emitted)
        return place

    def _dynamic(self, reader: Reader, declaration: Cursor, type_: CType) -> Place:
        """``extern __shared__ T a[]``: all such arrays of a kernel start at the same address."""
        dtype = element_dtype(type_.element) if isinstance(type_, ArrayType) else None
        if dtype is None or self.launch is None:
            raise reader.refuse(f"dynamic shared array of '{describe(type_)}'", declaration, "use an array of scalars")
        if self.dynamic is None:
            chosen = _dynamic_dtype(reader, declaration, dtype)
            size = _dynamic_extent(reader, self.launch.dynamic_shared_bytes, chosen)
            if isinstance(size, Const) and size.value == 0:
                raise reader.refuse(
                    f"dynamic shared array '{declaration.spelling}' but the launch gives no dynamic shared memory",
                    declaration,
                    "pass the bytes as the third launch argument",
                )
            self.dynamic = Buffer(Sym(declaration.spelling), chosen, (size,), Space.SHARED)
            self.shared.append(Alloc(self.dynamic.sym, chosen, self.dynamic.shape or (), Space.SHARED, loc=reader.location(declaration)))
        assert isinstance(self.dynamic.dtype, DType)
        start = Pointer(self.dynamic, ZERO, self.dynamic.dtype.bytes, type_)
        return Memory(memory.view(start, type_))

    def _global(self, reader: Reader, declaration: Cursor, constant: bool) -> Place:
        """A ``__device__`` or ``__constant__`` variable: a buffer at the head of the module, zero unless initialised."""
        key = clang.declaration_key(declaration)
        if key not in self.device_globals:
            type_ = reader.ctype(declaration)
            space = Space.CONST if constant else Space.GLOBAL
            with reader.body() as emitted:
                if isinstance(type_, ArrayType):
                    initial = clang.initializer(declaration)
                    place, _ = declarations.make_array(reader, declaration, type_, initial, flat=True, space=space)
                else:
                    place = declarations.allocate(reader, declaration.spelling, type_, declaration, space=space)
            reader.module_allocs.extend(_zeroed(s) for s in _initialised(reader, declaration, emitted))
            self.device_globals[key] = place
        return self.device_globals[key]


def _initialised(reader: Reader, declaration: Cursor, emitted: list[Stmt]) -> list[Stmt]:
    """The ``Alloc`` of a scalar device variable with its initialiser, which is a constant expression."""
    value = clang.initializer(declaration)
    first = emitted[0]
    if value is None or (isinstance(first, Alloc) and (first.shape or first.init is not None)):
        return emitted
    found = clang.evaluate(value)
    if found is None or len(emitted) > 1 or not isinstance(first, Alloc) or not isinstance(first.dtype, DType):
        raise reader.refuse("a device variable with this initialiser", value, "initialise a scalar with a literal")
    return [dataclasses.replace(first, init=(literal(found if first.dtype.is_float else int(found), first.dtype),))]


def _zeroed(statement: Stmt) -> Stmt:
    """A device variable without initialiser starts as zeros."""
    if not isinstance(statement, Alloc) or statement.init is not None or not isinstance(statement.dtype, DType):
        return statement
    total = math.prod(int(e.value) if isinstance(e, Const) else 0 for e in statement.shape)
    if not 0 < total <= _ZEROED_ELEMENTS:
        return statement
    return dataclasses.replace(statement, init=(literal(0, statement.dtype),) * total)


def _has_constant_value(declaration: Cursor) -> bool:
    return declarations.is_constant(declaration) and clang.initializer(declaration) is not None


def _dynamic_extent(reader: Reader, bytes_: int | Expr, dtype: DType) -> Expr:
    """Elements of ``dtype`` in the launch's dynamic shared memory."""
    if isinstance(bytes_, int):
        return declarations.extent(bytes_ // dtype.bytes)
    return sizes.element_count(bytes_, dtype.bytes, reader.values)


def _dynamic_dtype(reader: Reader, declaration: Cursor, dtype: DType) -> DType:
    """Raw bytes are typed by what the kernel casts them to: the one scalar type of all its pointer casts, if there is one."""
    if dtype.bytes != 1 or reader.function is None:
        return dtype
    found: set[DType] = set()
    for node in reader.function.cursor.walk_preorder():
        if node.kind not in (CursorKind.CXX_REINTERPRET_CAST_EXPR, CursorKind.CSTYLE_CAST_EXPR):
            continue
        names = [n for n in node.walk_preorder() if n.kind == CursorKind.DECL_REF_EXPR and n.spelling == declaration.spelling]
        pointee = node.type.get_canonical().get_pointee()
        if names and pointee.kind.name != "INVALID" and pointee.kind.name != "VOID":
            element = element_dtype(reader_ctype(reader, pointee, node))
            if element is not None:
                found.add(element)
    return found.pop() if len(found) == 1 else dtype


def reader_ctype(reader: Reader, type_: clang.ClangType, where: Cursor) -> CType:
    """The reader's type of a bare clang type."""
    return ctype_of(type_, reader.location(where), reader.dialect.record)


# ----------------------------------------------------------------------------------------------------------- calls


def _read_all(reader: Reader, arguments: Sequence[Cursor]) -> list[Expr]:
    def read(argument: Cursor) -> Callable[[], Value]:
        return lambda: expressions.read_scalar(reader, argument)

    values = reader.in_order(*(read(a) for a in arguments))
    return [memory.scalar_value(reader, v, a) for v, a in zip(values, arguments, strict=True)]


def _make_vector(reader: Reader, type_: Vec, arguments: Sequence[Cursor]) -> Expr:
    return MakeVec(tuple(convert(e, type_.dtype) for e in _read_all(reader, arguments)))


def _dim3(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    if len(arguments) == 1 and isinstance(reader.ctype(arguments[0]), Vec):
        return expressions.read_value(reader, arguments[0])
    given = [a for a in arguments if a.location.line > 0]
    values = [convert(e, _U32) for e in _read_all(reader, given)]
    return MakeVec((*values, *[literal(1, _U32)] * (3 - len(values))))


def _barrier(scope: Scope) -> Callable[[GpuDevice, Reader, Cursor, list[Cursor]], Value]:
    def read(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
        for mask in arguments:
            expressions.read_effect(reader, mask)
        reader.emit(Sync(scope, reader.location(call)))
        return NoValue()

    return read


def _nothing(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    return NoValue()


def _output(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    """``printf``: what its arguments do besides is done; a use of its result is refused."""
    for argument in arguments[1:]:
        expressions.read_effect(reader, argument)
    reader.note("output (printf) of a kernel is left out: it is no result of the entry", call)
    return NoValue()


def _first(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    return expressions.read_value(reader, arguments[0])


def _cached_load(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    pointer = expressions.read_value(reader, arguments[0])
    return memory.load(reader, memory.dereference(reader, pointer, call), call)


def _nontemporal_store(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    return _cached_store(device, reader, call, [arguments[1], arguments[0]])


def _cached_store(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    pointer, value = reader.in_order(
        lambda: expressions.read_value(reader, arguments[0]), lambda: expressions.read_value(reader, arguments[1])
    )
    memory.store(reader, memory.dereference(reader, pointer, call), value, call)
    return NoValue()


def _mask(device: GpuDevice, read: list[Expr], masked: bool) -> Expr:
    """The mask of a warp operation: its first argument, or without one all lanes (of which those that run it together take part)."""
    return convert(read.pop(0), mask_type(device.warp_size)) if masked else full_mask(device.warp_size)


def _shuffle(device: GpuDevice, reader: Reader, call: Cursor, op: str, arguments: list[Cursor], *, masked: bool) -> Value:
    read = _read_all(reader, [a for a in arguments if a.location.line > 0])
    mask = _mask(device, read, masked)
    width = convert(read[2], _I32) if len(read) > 2 else literal(device.warp_size, _I32)
    lane = convert(read[1], _U32 if op in ("warp.shfl_up", "warp.shfl_down") else _I32)
    value = halves.as_word(read[0])
    moved = across(reader, call, op, value.type if isinstance(value.type, DType) else None, (mask, value, lane, width))
    return moved if value is read[0] else Bitcast(moved, read[0].type)


def across(reader: Reader, call: Cursor, op: str, dtype: DType | None, arguments: tuple[Expr, ...]) -> Expr:
    """A cross-thread operation as a statement that writes a fresh local."""
    if dtype is None:
        raise reader.refuse("a shuffle of a vector", call, "shuffle the lanes one by one")
    sym = Sym(op.replace("warp.", ""))
    where = reader.location(call)
    reader.emit(Alloc(sym, dtype, (), Space.LOCAL, loc=where), Call(op, (Region(sym, ()),), arguments, where))
    return Load(sym, (), dtype)


def _vote(device: GpuDevice, reader: Reader, call: Cursor, kind: str, arguments: list[Cursor], *, masked: bool) -> Value:
    read = _read_all(reader, arguments)
    mask = _mask(device, read, masked)
    predicate = convert(read[0], DType.BOOL)
    if kind == "ballot":
        return convert(across(reader, call, "warp.ballot", mask_type(device.warp_size), (mask, predicate)), device.language.lane_mask)
    return convert(across(reader, call, f"warp.{kind}", DType.BOOL, (mask, predicate)), _I32)


def _active_mask(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    return convert(across(reader, call, "warp.activemask", mask_type(device.warp_size), ()), device.language.lane_mask)


_CALLS: dict[str, Callable[[GpuDevice, Reader, Cursor, list[Cursor]], Value]] = {
    "__syncthreads": _barrier(Scope.BLOCK),
    "__syncwarp": _barrier(Scope.WARP),
    "__threadfence_block": _nothing,  # orders memory only; phases between barriers are ordered already
    "printf": _output,
    "__builtin_expect": _first,
    "__builtin_nontemporal_load": _cached_load,
    "__builtin_nontemporal_store": _nontemporal_store,
    "__builtin_assume": _nothing,
    "__activemask": _active_mask,
    "dim3": _dim3,
} | {
    f"__{name}": reading
    for names, reading in (
        (("ldg", "ldca", "ldcg", "ldcs", "ldlu", "ldcv"), _cached_load),
        (("stcg", "stcs", "stwb", "stwt"), _cached_store),
    )
    for name in names
}

_REFUSED = (
    (r"atomic(?!AddNoRet)\w+", "atomic function"),
    (r"__threadfence(_system)?", "memory fence"),
    (r"__syncthreads_(count|and|or)", "barrier with reduction"),
    (r"__match_\w+_sync", "warp function"),
    (r"clock(64)?|__nanosleep|__trap|__brkpt", "device function"),
    (r"assert|__assertfail", "device output"),
    (r"__(half|h|nv_bfloat16|float2half|bfloat16|float2bfloat16)\w*(::(?!operator=$).*)?", "half-precision function"),
    (r"this_(thread_block|grid|cluster)|tiled_partition|coalesced_threads|thread_block(_tile)?::.*", "cooperative groups function"),
    (r"tex\w+|surf\w+", "texture function"),
    (r"__pipeline_\w+|__dp[24]a\w+|__v\w+[24]", "device function"),
)


# ---------------------------------------------------------------------------------------------------------- kernels


def read_kernel(reader: Reader, device: GpuDevice, kernel: Cursor, arguments: Sequence[Value], launch: LaunchIndexes) -> tuple[Body, Body]:
    """The shared ``Alloc``s and the thread body of one launch of ``kernel`` (a definition, or a template's instantiation) with these
    arguments.

    Raises UnsupportedError, naming construct and line, for what the device reader does not read.
    """
    device.launch, device.shared, device.shared_places, device.dynamic = launch, [], {}, None
    for position, extent in zip(launch.thread + launch.block, launch.block_dim + launch.grid_dim, strict=True):
        top = int(extent.value) if isinstance(extent, Const) else _U32.max_int
        if isinstance(position, Var):
            reader.ranges[position.sym] = (0, max(top - 1, 0))
        if isinstance(extent, Var):
            reader.ranges.setdefault(extent.sym, (1, _U32.max_int))  # where a thread runs, the launch is not empty
    saved = reader.function, reader.loop
    reader.function, reader.loop = Function(kernel), None
    body_cursor = clang.body_of(kernel)
    if body_cursor is None:
        raise reader.refuse(f"kernel '{kernel.spelling}' has no body here", kernel, "define it in this file")
    try:
        with reader.body() as emitted, reader.scope.function():
            for parameter, value in zip(clang.parameters(kernel), arguments, strict=True):
                functions.bind_parameter(reader, kernel, parameter, value, parameter)
            statements.read_statement(reader, body_cursor)
    finally:
        reader.function, reader.loop = saved
        device.launch = None
    return tuple(device.shared), without_unused_results(tuple(emitted))
