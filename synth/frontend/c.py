"""C and C++ with OpenMP and AVX-512 to a module: what the ``vnni`` printer writes, and plain loops as people write them."""

from __future__ import annotations

from dataclasses import dataclass, field

from clang.cindex import CursorKind

from synth.errors import Diagnostic, UsageError
from synth.frontend import entry, extents, heap, host_end, openmp, roles, tolerance, vnni
from synth.frontend.gpu import read_entry_body
from synth.frontend.reader import clang
from synth.frontend.reader.arithmetic import literal
from synth.frontend.reader.clang import Cursor, Unit
from synth.frontend.reader.dialect import Dialect
from synth.frontend.reader.places import NoValue, Place, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import CType
from synth.ir.dtypes import DType
from synth.ir.grammar import Axis, Call, Const, Location, Module, Space
from synth.source import ReadOptions, ReadResult, Source

# The printer's scalar stand-ins for CPUs without AVX-512 are skipped: the intrinsics themselves are read.
TARGET_DEFINES = ("__AVX2__", "__AVX512F__", "__AVX512BW__", "__AVX512DQ__", "__AVX512VL__", "__AVX512VNNI__", "__FMA__", "__SSE4_2__")

_OUTPUT = frozenset(["printf", "fprintf", "puts", "putchar", "fputs", "fflush", "perror"])
_ENDING = frozenset(["exit", "abort", "_exit", "terminate"])


@dataclass
class CDialect(Dialect):
    """Plain C++ on the host, OpenMP loops, and AVX-512 intrinsics."""

    name: str = "vnni"
    heap: heap.Heap = field(default_factory=heap.Heap)
    openmp: openmp.OpenMP = field(default_factory=openmp.OpenMP)

    def record(self, name: str) -> CType | None:
        return vnni.record(name) or Dialect.record(self, name)

    def declare(self, reader: Reader, declaration: Cursor) -> Place | None:
        return self.heap.declare(reader, declaration)

    def call(self, reader: Reader, name: str, call: Cursor) -> Place | Value | None:
        if name in _OUTPUT:
            return literal(0, DType.I32)
        if name in _ENDING:
            reader.emit(Call(host_end.FAILURE, (), (), reader.location(call)))
            return NoValue()
        found = vnni.call(reader, name, call)
        return found if found is not None else self.heap.call(reader, name, call)

    def expression(self, reader: Reader, cursor: Cursor) -> Value | None:
        return self.heap.expression(reader, cursor)

    def loop_axis(self, reader: Reader, loop: Cursor) -> Axis | None:
        return self.openmp.axis(loop)


def read(source: Source, options: ReadOptions) -> ReadResult:
    """Reads a C or C++ source. Raises SourceError, UsageError or UnsupportedError, with the place and what to do."""
    # In our headers a mask is a record, which tells it from an integer, in C++ only. Devices compile all of this dialect as C++ too.
    is_c = source.filename.endswith(".c") and "__mmask" not in source.text
    arguments = ("-x", "c", "-std=gnu17") if is_c else clang.CPP_ARGUMENTS
    defines = {**dict.fromkeys(TARGET_DEFINES, "1"), "_OPENMP": "201511", **options.defines}
    if options.launch is not None:
        raise UsageError("--launch is for GPU kernels", hint="leave it out")
    unit = clang.parse(source.text, source.filename, arguments, defines=defines, shim=source.headers, tolerant=True)
    try:
        function = find_entry(unit, options.entry)
    except UsageError:
        tolerance.refuse_errors(unit, None)  # an error in the text may be why there is no entry
        raise
    ignored = tolerance.refuse_errors(unit, function)
    dialect = CDialect()
    reader = Reader(unit, dialect)
    dialect.openmp = openmp.read(unit, reachable(unit, function), reader.notes)
    parameters = entry.read_parameters(reader, function, Space.HOST, options.binds)
    read_entry_body(reader, function, parameters)
    scalars = frozenset(p.param.sym for p in parameters if not p.param.is_buffer)
    ending = host_end.settle((*reader.module_allocs, *reader.out), reader.values, scalars)
    host_end.refuse_escaping(ending.body)
    params = roles.with_roles([p.param for p in parameters], ending.body, reader.values, scalars)
    bound = {p.param.sym: p.value for p in parameters if isinstance(p.value, Const)}
    params = extents.with_extents(params, options.extents, bound, options.defines)
    notes = [
        *reader.notes,
        *ignored,
        *(Diagnostic("note", "a guard that makes the entry fail is assumed not to hold", place) for place in ending.places),
    ]
    assumes = (*entry.assumptions(parameters, options.binds), *ending.assumes)
    return ReadResult(Module(function.spelling, params, ending.body, "vnni", assumes, ending.result), tuple(notes))


def find_entry(unit: Unit, name: str | None) -> Cursor:
    """The named function, else the only one that no other function of the file calls (``extern "C"`` first, ``main`` never)."""
    own = [f for f in entry.own_functions(unit) if f.kind == CursorKind.FUNCTION_DECL]
    if name is not None:
        found = [f for f in own if f.spelling == name]
        if not found:
            raise UsageError(
                f"{unit.filename}: there is no function '{name}'",
                Location(unit.filename, 1),
                hint=f"there are: {entry.listing(own) or 'none'}",
            )
        if name == "main":
            raise UsageError("'main' cannot be the entry: it has no buffers to pass", unit.location(found[0]), hint="name another function")
        return found[0]
    called = {clang.declaration_key(c) for f in own if f.spelling != "main" for c in entry.callees(f)}
    roots = [f for f in own if clang.declaration_key(f) not in called]
    return entry.choose(unit, roots or own, "function to translate")


def reachable(unit: Unit, function: Cursor) -> list[Cursor]:
    """The function and those of the file that it calls, directly or not."""
    own = {clang.declaration_key(f): f for f in entry.own_functions(unit)}
    found, queue = {clang.declaration_key(function): function}, [function]
    while queue:
        for callee in entry.callees(queue.pop()):
            key = clang.declaration_key(callee)
            if key in own and key not in found:
                found[key] = own[key]
                queue.append(own[key])
    return list(found.values())
