"""CUDA or HIP C++ to a module: a whole file with its host wrapper, or a bare kernel with a given launch."""

from __future__ import annotations

import re
from dataclasses import replace

from synth.errors import Diagnostic, UsageError
from synth.frontend import entry, extents, host_end, launch, roles, tolerance
from synth.frontend.gpu_host import GpuHost
from synth.frontend.gpu_language import GpuLanguage
from synth.frontend.reach import reached_text
from synth.frontend.reader import clang, expressions, functions, statements
from synth.frontend.reader.clang import Cursor, Unit
from synth.frontend.reader.reader import Function, Reader
from synth.frontend.reader.types import Void, ctype_of
from synth.ir.dtypes import DType
from synth.ir.grammar import Call, Const, Location, Module, Space
from synth.source import ReadOptions, ReadResult, Source
from synth.spec import find_spec

_LAUNCH_HINT = "give --entry KERNEL --launch grid=X,block=Y"


def read(source: Source, options: ReadOptions, language: GpuLanguage) -> ReadResult:
    """Reads a source of ``language``. Raises SourceError, UsageError or UnsupportedError, with the place and what to do."""
    spec = find_spec(language.name, options.source_target)
    if spec is None:
        raise UsageError(f"there is no target '{options.source_target}' of dialect {language.name}", hint="see `xpiler devices`")
    name = options.entry
    template = name is not None and "<" in name
    unit = clang.parse(
        source.text,
        source.filename,
        language.arguments(spec),
        defines=options.defines,
        append=functions.probe([name]) if template and name is not None else "",
        shim=source.headers,
        force_include=(language.header,),
        tolerant=True,
    )
    host = GpuHost(language, spec)
    try:
        found = functions.instantiation(unit, 0, name) if template and name is not None else find_entry(unit, options)
    except UsageError:
        tolerance.refuse_errors(unit, None)  # an error in the text may be why there is no entry
        raise
    notes = tolerance.refuse_errors(unit, found)
    result = _read_kernel(unit, found, options, host) if entry.is_kernel(found) else _read_host(unit, found, options, host)
    return replace(result, diagnostics=(*result.diagnostics, *notes), reached=reached_text(unit, found))


# ----------------------------------------------------------------------------------------------------------- entry


def find_entry(unit: Unit, options: ReadOptions) -> Cursor:
    """The entry: the named one, else the only host function that launches kernels, else (with ``--launch``) the only kernel."""
    own = entry.own_functions(unit)
    kernels = [f for f in own if entry.is_kernel(f)]
    if options.entry is not None:
        return _named(unit, own, options)
    if options.launch is not None:
        if len(kernels) == 1:
            return _not_template(unit, kernels[0])
        raise UsageError(
            f"{unit.filename}: --launch needs one kernel, and there are {len(kernels)}: {entry.listing(kernels) or 'none'}",
            Location(unit.filename, 1),
            hint="name one with --entry KERNEL",
        )
    launching = launchers(own)
    candidates = entry.preferred(launching)
    if not candidates:
        raise _no_entry(unit, kernels, launching)
    called = {
        clang.declaration_key(c) for f in candidates for c in entry.callees(f) if clang.declaration_key(c) != clang.declaration_key(f)
    }
    roots = [f for f in candidates if clang.declaration_key(f) not in called] or candidates
    return _not_template(unit, entry.choose(unit, roots, "host function launches a kernel"))


def launchers(own: list[Cursor]) -> list[Cursor]:
    """Host functions that launch a kernel, themselves or through functions of the file."""
    hosts = [f for f in own if not entry.is_kernel(f)]
    found = {f.spelling for f in hosts if launch.launches(f)}
    while True:
        more = {f.spelling for f in hosts if f.spelling not in found and any(c.spelling in found for c in entry.callees(f))}
        if not more:
            return [f for f in hosts if f.spelling in found]
        found |= more


def _named(unit: Unit, own: list[Cursor], options: ReadOptions) -> Cursor:
    name = options.entry
    found = [f for f in own if f.spelling == name]
    if name == "main" and found:
        raise UsageError("'main' cannot be the entry: it has no buffers to pass", unit.location(found[0]), hint=_LAUNCH_HINT)
    if not found:
        raise UsageError(
            f"{unit.filename}: there is no function '{name}'", Location(unit.filename, 1), hint=f"there are: {entry.listing(own) or 'none'}"
        )
    if len(found) > 1:
        # a kernel and its launcher, or a template and the function that instantiates it, often share a name
        found = [f for f in found if entry.is_kernel(f) == (options.launch is not None)] or found
        found = [f for f in found if f.kind.name != "FUNCTION_TEMPLATE"] or found
    if len(found) > 1:
        raise UsageError(f"'{name}' is overloaded: {entry.listing(found)}", unit.location(found[0]), hint="rename one")
    chosen = _not_template(unit, found[0])
    if entry.is_kernel(chosen) and options.launch is None:
        raise UsageError(
            f"'{name}' is a kernel: its grid and block are not known", unit.location(chosen), hint="give --launch grid=X,block=Y"
        )
    if not entry.is_kernel(chosen) and options.launch is not None:
        raise UsageError(f"--launch is for kernels, and '{name}' is a host function", unit.location(chosen), hint="leave --launch out")
    return chosen


def _not_template(unit: Unit, function: Cursor) -> Cursor:
    if function.kind.name == "FUNCTION_TEMPLATE":
        raise UsageError(
            f"'{function.spelling}' is a template: its arguments are not known",
            unit.location(function),
            hint=f"give them: --entry '{function.spelling}<float>'",
        )
    return function


def _no_entry(unit: Unit, kernels: list[Cursor], launching: list[Cursor]) -> UsageError:
    if not kernels and not launching:
        return UsageError(f"{unit.filename}: there is no kernel and no host function that launches one", Location(unit.filename, 1))
    only = "only 'main' launches kernels" if launching else "no host function launches a kernel"
    place = kernels[0] if kernels else launching[0]
    return UsageError(f"{unit.filename}: {only}; the kernels are {entry.listing(kernels)}", unit.location(place), hint=_LAUNCH_HINT)


# --------------------------------------------------------------------------------------------------------- reading


def _read_kernel(unit: Unit, kernel: Cursor, options: ReadOptions, host: GpuHost) -> ReadResult:
    shape = options.launch
    if shape is None:
        raise UsageError(
            f"'{kernel.spelling}' is a kernel: its grid and block are not known", unit.location(kernel), hint="give --launch grid=X,block=Y"
        )
    reader = Reader(unit, host)
    parameters = entry.read_parameters(reader, kernel, Space.GLOBAL, options.binds)
    grid, block = launch.constants(shape.grid), launch.constants(shape.block)
    shared = Const(shape.dynamic_shared_bytes, DType.U64)
    launch.emit(host, reader, kernel, [p.value for p in parameters], grid, block, shared, unit.location(kernel))
    return _finish(reader, host, kernel, parameters, options)


def _read_host(unit: Unit, function: Cursor, options: ReadOptions, host: GpuHost) -> ReadResult:
    if entry.is_device(function) and not launch.launches(function):
        raise UsageError(f"'{function.spelling}' is a device function", unit.location(function), hint="name a kernel or a host function")
    reader = Reader(unit, host)
    parameters = entry.read_parameters(reader, function, Space.HOST, options.binds)
    read_entry_body(reader, function, parameters)
    return _finish(reader, host, function, parameters, options)


def read_entry_body(reader: Reader, function: Cursor, parameters: tuple[entry.EntryParameter, ...]) -> None:
    """Reads the body of a host entry; what it returns is left as markers (``host_end``)."""

    def leave(statement: Cursor) -> None:
        operand = next(iter(clang.operands(statement)), None)
        args = () if operand is None else (_returned(reader, operand, function),)
        reader.emit(Call(host_end.RETURN, (), args, reader.location(statement)))

    body = clang.body_of(function)
    assert body is not None
    result = ctype_of(function.result_type, reader.location(function), reader.dialect.record)
    if not isinstance(result, Void) and not host_end.is_status(result):
        raise reader.refuse(f"entry '{function.spelling}' returns a '{function.result_type.spelling}'", function, "return void or a status")
    reader.function = Function(function, leave)
    entry.bind(reader, function, parameters)
    statements.read_statement(reader, body)


def _returned(reader: Reader, operand: Cursor, function: Cursor) -> Const:
    type_ = ctype_of(function.result_type, reader.location(function), reader.dialect.record)
    value = expressions.convert_value(reader, expressions.read_value(reader, operand), type_, operand)
    if not isinstance(value, Const):
        raise reader.refuse("the entry returns a computed value", operand, "return a status, and pass results through a pointer")
    return value


def _finish(
    reader: Reader, host: GpuHost, function: Cursor, parameters: tuple[entry.EntryParameter, ...], options: ReadOptions
) -> ReadResult:
    scalars = frozenset(p.param.sym for p in parameters if not p.param.is_buffer)
    ending = host_end.settle((*reader.module_allocs, *reader.out), reader.values, scalars)
    body = host_end.without_unused(host_end.forwarded(ending.body))
    host_end.refuse_unknown(body, host.unknown)
    host_end.refuse_escaping(body)
    params = roles.with_roles([p.param for p in parameters], body, reader.values, scalars)
    bound = {p.param.sym: p.value for p in parameters if isinstance(p.value, Const)}
    params = extents.with_extents(params, options.extents, bound, options.defines)
    notes = list(reader.notes)
    notes += [Diagnostic("note", "a guard that makes the entry fail is assumed not to hold", place) for place in ending.places]
    name = re.sub(r"<.*", "", function.spelling)
    assumes = (*entry.assumptions(parameters, options.binds), *ending.assumes)
    module = Module(name, params, body, host.language.name, assumes, ending.result, host.warp_size)
    return ReadResult(module, tuple(notes))
