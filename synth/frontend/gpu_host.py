"""Host code of CUDA and HIP: memory, copies, launches, error checks. Kernel bodies are read by ``gpu_device``.

Sources: CUDA Runtime API, sections Memory Management, Execution Control, Error Handling, Stream and Event Management; HIP Runtime API,
modules of the same names. Functions are known by their names without the prefix of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from clang.cindex import CursorKind, TypeKind

from synth.errors import Diagnostic
from synth.frontend import cooperative, device_queries, heap, host_end, known, launch, sizes
from synth.frontend.gpu_device import GpuDevice
from synth.frontend.reader import clang, expressions, facts, lvalues, memory
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import ZERO, Buffer, Fixed, NoValue, Place, Pointer, PointerVariable, Settled, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import ArrayType, CType, OpaqueType, PointerType, element_dtype
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Call, Const, Load, Space, Sym

SUCCESS = Const(0, DType.U32)  # cudaSuccess, hipSuccess; the underlying type of both enumerations


# Types of host code that say nothing about what is computed: streams of text, clocks, handles.
_IGNORED_NAMESPACES = ("chrono",)
_IGNORED_RECORDS = frozenset(
    [
        "ostream",
        "istream",
        "iostream",
        "ofstream",
        "ifstream",
        "fstream",
        "stringstream",
        "ostringstream",
        "istringstream",
        "basic_string",
        "manipulator",
        "ios_base",
        "ios",
    ]
)
_IGNORED_HANDLES = ("CUstream_st", "CUevent_st", "ihipStream_t", "ihipEvent_t", "xp_file")

_DROPPED_STATUS = re.compile(
    r"(GetLastError|PeekAtLastError|DeviceSynchronize|ThreadSynchronize|DeviceReset|SetDevice|Free|FreeAsync|FreeHost|ProfilerStart|ProfilerStop"
    r"|FuncSetCacheConfig|FuncSetAttribute|DeviceSetCacheConfig|DeviceSetSharedMemConfig|HostRegister|HostUnregister|MemPrefetchAsync)"
)
_IGNORED_STATUS = re.compile(r"(Stream|Event)\w+")
_DROPPED_OUTPUT = frozenset(["printf", "fprintf", "puts", "putchar", "fputs", "fputc", "fflush", "perror", "vprintf", "vfprintf"])
_ENDING = frozenset(["exit", "abort", "_exit", "quick_exit", "terminate"])


@dataclass
class GpuHost(GpuDevice):
    """Host code, and device code inside a launch (``launch`` is set then). ``unknown`` are values that exist only at run time (times,
    strings): whatever uses one for more than output is refused."""

    heap: heap.Heap = field(default_factory=heap.Heap)
    unknown: dict[Sym, str] = field(default_factory=dict)

    @property
    def on_device(self) -> bool:
        return self.launch is not None

    def record(self, name: str) -> CType | None:
        if name in _IGNORED_RECORDS:
            return OpaqueType(name)
        return GpuDevice.record(self, name)

    def variable(self, reader: Reader, declaration: Cursor, where: Cursor) -> Place | Value | None:
        if not self.on_device and _ignored_type(declaration):
            return NoValue()
        return GpuDevice.variable(self, reader, declaration, where)

    def declare(self, reader: Reader, declaration: Cursor) -> Place | None:
        if self.on_device:
            return GpuDevice.declare(self, reader, declaration)
        if _is_status(declaration):
            value = clang.initializer(declaration)
            if value is not None:
                expressions.read_effect(reader, value)
            return Settled(SUCCESS, DType.U32)
        if _ignored_type(declaration):
            return Settled(NoValue(), OpaqueType(declaration.type.spelling))
        if _is_global_pointer(declaration):
            return _global_pointer(reader, declaration)
        found = self.heap.declare(reader, declaration)
        return found if found is not None else GpuDevice.declare(self, reader, declaration)

    def own_call(self, reader: Reader, definition: Cursor, call: Cursor) -> Place | Value | None:
        if launch.configuration(call) is None:
            return None
        return launch.read(self, reader, definition, call)

    def call(self, reader: Reader, name: str, call: Cursor) -> Place | Value | None:
        if launch.configuration(call) is not None:
            definition = clang.definition_of(_called(call))
            if definition is None:
                raise reader.refuse(f"kernel '{name}' has no body here", call, "define it in this file")
            return launch.read(self, reader, definition, call)
        if self.launch is not None:
            grouped = cooperative.call(reader, self.launch, self.warp_size, name, call)
            return grouped if grouped is not None else GpuDevice.call(self, reader, name, call)
        api = self.language.api_name(name)
        if api is not None and clang.definition_of(_called(call)) is None:
            return _runtime_call(self, reader, api, call)
        if name in _DROPPED_OUTPUT or "stream::" in name or name in ("operator<<", "ios::operator bool"):
            _note_once(reader, "output (printf, streams) is left out: it is no result of the entry", call)
            if not isinstance(reader.ctype(call), DType):
                return NoValue()
            return Const(0, DType.I32) if name in _DROPPED_OUTPUT else self._measured(reader, call, "a stream's state")
        if name in _ENDING:
            reader.emit(Call(host_end.FAILURE, (), (), reader.location(call)))
            return NoValue()
        if _measures(call):
            return self._measured(reader, call, "a time")
        if name.startswith(("cu", "hip")) and clang.definition_of(_called(call)) is None:
            raise reader.refuse(f"'{name}' is not supported", call, "see docs for the runtime functions that are read")
        found = self.heap.call(reader, name, call)
        return found if found is not None else GpuDevice.call(self, reader, name, call)

    def expression(self, reader: Reader, cursor: Cursor) -> Value | None:
        if self.on_device:
            return None
        if cursor.kind == CursorKind.STRING_LITERAL:
            return self._opaque_pointer("a string", DType.I8)
        if cursor.kind == CursorKind.CXX_THROW_EXPR:
            reader.emit(Call(host_end.FAILURE, (), (), reader.location(cursor)))
            return NoValue()
        return self.heap.expression(reader, cursor)

    def _opaque_pointer(self, what: str, dtype: DType) -> Pointer:
        sym = Sym(what)
        self.unknown[sym] = what
        return Pointer(Buffer(sym, dtype, None, Space.HOST), ZERO, dtype.bytes, dtype, True)

    def _measured(self, reader: Reader, call: Cursor, what: str) -> Value:
        type_ = reader.ctype(call)
        if not isinstance(type_, DType):
            return NoValue()
        sym = Sym(what)
        self.unknown[sym] = what
        return Load(sym, (), type_)


def _called(call: Cursor) -> Cursor:
    callee = clang.callee_of(call)
    assert callee is not None  # a call of something without a name is refused before
    return callee


def _note_once(reader: Reader, message: str, cursor: Cursor) -> None:
    if all(n.message != message for n in reader.notes):
        reader.notes.append(Diagnostic("note", message, reader.location(cursor)))


def _is_status(declaration: Cursor) -> bool:
    type_ = declaration.type.get_canonical()
    return bool(type_.kind == TypeKind.ENUM and type_.get_declaration().spelling in ("cudaError", "cudaError_enum", "hipError_t"))


def _ignored_type(declaration: Cursor) -> bool:
    type_ = declaration.type.get_canonical()
    if type_.kind == TypeKind.POINTER and type_.get_pointee().get_canonical().kind == TypeKind.RECORD:
        return type_.get_pointee().get_canonical().get_declaration().spelling in _IGNORED_HANDLES
    if type_.kind in (TypeKind.LVALUEREFERENCE, TypeKind.POINTER):
        type_ = type_.get_pointee().get_canonical()
    if type_.kind != TypeKind.RECORD:
        return False
    record = type_.get_declaration()
    return record.spelling in _IGNORED_RECORDS or record.semantic_parent.spelling in _IGNORED_NAMESPACES


def _is_global_pointer(declaration: Cursor) -> bool:
    """A pointer variable at namespace scope, of the host."""
    type_ = declaration.type.get_canonical()
    outside = declaration.semantic_parent.kind in (CursorKind.TRANSLATION_UNIT, CursorKind.NAMESPACE)
    return outside and type_.kind == TypeKind.POINTER and not any(c.kind.is_attribute() for c in declaration.get_children())


def _global_pointer(reader: Reader, declaration: Cursor) -> Place | None:
    """It starts without a buffer: what an earlier call of the entry left in it is not known, and reading it before it is set is refused."""
    type_ = reader.ctype(declaration)
    if not isinstance(type_, PointerType):
        return None
    sym = Sym(declaration.spelling)
    reader.module_allocs.append(Alloc(sym, DType.I64, (), Space.LOCAL, loc=reader.location(declaration)))
    return PointerVariable(sym, type_, name=declaration.spelling)


def _measures(call: Cursor) -> bool:
    """A call of a clock: ``std::chrono`` functions, ``time``, ``clock``, ``gettimeofday``."""
    callee = _called(call)
    parents = {callee.semantic_parent.spelling}
    if callee.semantic_parent.semantic_parent is not None:
        parents.add(callee.semantic_parent.semantic_parent.spelling)
    return "chrono" in parents or callee.spelling in ("time", "clock", "gettimeofday", "clock_gettime", "omp_get_wtime")


# ----------------------------------------------------------------------------------------------------------- calls

Handler = Callable[[GpuHost, Reader, Cursor, list[Cursor]], Value]


def _allocate(space: Space) -> Handler:
    def read(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
        place = _target(reader, arguments[0], call)
        name, pointee = _pointer_variable(reader, place, arguments[0], call)
        bytes_ = expressions.read_scalar(reader, arguments[1])
        dtype = element_dtype(pointee)
        if dtype is None:
            raise reader.refuse(f"allocation of untyped memory for '{name}'", call, "declare the pointer with its element type")
        count = sizes.element_count(known.resolved(reader, bytes_), dtype.bytes, reader.values)
        made = heap.new_buffer(reader, name, pointee, count, space, call)
        variable = _only_allocated(reader, arguments[0])
        if variable is not None:
            reader.scope.bind(variable, Fixed(made, PointerType(pointee)))
        else:
            memory.store(reader, place, made, call)
        return SUCCESS

    return read


def _only_allocated(reader: Reader, argument: Cursor) -> Cursor | None:
    """The local pointer whose address is given, when nothing but its allocation ever sets it."""
    inner = _address_of(argument)
    if inner is None or inner.kind != CursorKind.DECL_REF_EXPR or inner.referenced is None or reader.function is None:
        return None
    modified = facts.facts_of(reader.unit, reader.function.cursor).modified
    return None if clang.declaration_key(inner.referenced) in modified else inner.referenced


def _address_of(argument: Cursor) -> Cursor | None:
    """``p`` for ``&p`` and ``(void **)&p``."""
    inner = clang.strip(argument)
    while inner.kind in (CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR):
        inner = clang.strip(clang.operands(inner)[-1])
    if inner.kind == CursorKind.UNARY_OPERATOR and clang.unary_operator(inner) == "&":
        return clang.strip(clang.operands(inner)[0])
    return None


def _target(reader: Reader, argument: Cursor, call: Cursor) -> Place:
    """``&p`` or ``(void **)&p``, or a ``T **`` parameter of an inlined function: the pointer variable."""
    inner = _address_of(argument)
    if inner is not None:
        return lvalues.read_place(reader, inner)
    return memory.dereference(reader, expressions.read_value(reader, argument), call)


def _pointer_variable(reader: Reader, place: Place, argument: Cursor, call: Cursor) -> tuple[str, CType]:
    if isinstance(place, PointerVariable):
        return place.name or "buffer", place.type.pointee
    if isinstance(place, Fixed) and isinstance(place.type, PointerType):
        return (argument.spelling or "buffer"), place.type.pointee  # allocated once more
    raise reader.refuse("allocation into this expression", argument, "allocate into a pointer variable")


def _copy(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    heap.copy(reader, call, arguments[0], arguments[1], arguments[2])
    return SUCCESS


def _fill(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    heap.fill(reader, call, arguments[0], arguments[1], arguments[2])
    return SUCCESS


def _to_symbol(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    _symbol_copy(reader, call, arguments, to_symbol=True)
    return SUCCESS


def _from_symbol(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    _symbol_copy(reader, call, arguments, to_symbol=False)
    return SUCCESS


def _symbol_copy(reader: Reader, call: Cursor, arguments: list[Cursor], *, to_symbol: bool) -> None:
    """``cudaMemcpyToSymbol(symbol, from, bytes, offset)`` and its inverse: the symbol is an array in device memory."""
    symbol, other = (arguments[0], arguments[1]) if to_symbol else (arguments[1], arguments[0])
    pointer = _symbol(reader, symbol, call)
    size = expressions.read_scalar(reader, arguments[2])
    if len(arguments) > 3 and arguments[3].location.line > 0:
        offset = clang.evaluate(arguments[3])
        if offset is None:
            raise reader.refuse("a copy to a symbol at a variable offset", call, "copy all of it")
        pointer = memory.displaced(pointer, int(offset), pointer.pointee)
    host = expressions.read_value(reader, other)
    inside, inside_dtype = heap.region(reader, pointer, size, symbol)
    outside, outside_dtype = heap.region(reader, host, size, other)
    if inside_dtype is not outside_dtype:
        raise reader.refuse(f"a copy between {inside_dtype} and {outside_dtype} buffers", call, "use one element type for both")
    to, from_ = (inside, outside) if to_symbol else (outside, inside)
    reader.emit(Call("host.copy", (to,), (from_,), reader.location(call)))


def _symbol(reader: Reader, symbol: Cursor, call: Cursor) -> Pointer:
    place = lvalues.read_place(reader, clang.strip(symbol))
    found = memory.address(reader, place, call)
    if isinstance(found, Pointer) and isinstance(found.pointee, ArrayType):
        found = Pointer(found.buffer, found.offset, found.unit, found.pointee.element)
    if not isinstance(found, Pointer):
        raise reader.refuse("a copy to this symbol", call, "use a __constant__ or __device__ array")
    return found


def _elapsed(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    _note_once(reader, "streams and events are ignored: work runs in the order of the program", call)
    return SUCCESS


def _text(host: GpuHost, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    return host._opaque_pointer("a string", DType.I8)


def _runtime_call(host: GpuHost, reader: Reader, api: str, call: Cursor) -> Value:
    """A call of the runtime API, by its name without prefix. Raises UnsupportedError for functions that are not read."""
    handler = _CALLS.get(api)
    if handler is not None:
        return handler(host, reader, call, list(call.get_arguments()))
    if _DROPPED_STATUS.fullmatch(api) or device_queries.read(reader, host.spec, host.unknown, api, call, list(call.get_arguments())):
        return SUCCESS
    if _IGNORED_STATUS.fullmatch(api):
        _note_once(reader, "streams and events are ignored: work runs in the order of the program", call)
        return SUCCESS
    raise reader.refuse(f"'{call.spelling}' is not supported", call, "see docs for the runtime functions that are read")


_CALLS: dict[str, Handler] = {
    "Malloc": _allocate(Space.GLOBAL),
    "MallocAsync": _allocate(Space.GLOBAL),
    "MallocManaged": _allocate(Space.GLOBAL),
    "MallocHost": _allocate(Space.HOST),
    "HostAlloc": _allocate(Space.HOST),
    "Memcpy": _copy,
    "MemcpyAsync": _copy,
    "Memset": _fill,
    "MemsetAsync": _fill,
    "MemcpyToSymbol": _to_symbol,
    "MemcpyFromSymbol": _from_symbol,
    "EventElapsedTime": _elapsed,
    "GetErrorString": _text,
    "GetErrorName": _text,
}
