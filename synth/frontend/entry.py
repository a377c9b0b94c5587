"""The entry of a source: which function it is, and its parameters as the module's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clang.cindex import CursorKind

from synth.errors import UnsupportedError, UsageError
from synth.frontend.reader import clang, functions
from synth.frontend.reader.arithmetic import literal
from synth.frontend.reader.clang import Cursor, Unit
from synth.frontend.reader.places import ZERO, Buffer, Pointer, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import CType, OpaqueType, PointerType, RecordType, ReferenceType, Void, describe, element_dtype
from synth.ir.builder import eq
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Binary, Const, Expr, Location, Param, Space, Sym, Var

# Handles that host code passes around; each is a 64-bit value that the program does not look into.
_HANDLES = ("CUstream_st", "CUevent_st", "ihipStream_t", "ihipEvent_t")


def own_functions(unit: Unit) -> list[Cursor]:
    """Functions and function templates with a body in the user's file, in order."""
    kinds = (CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE)
    return [c for c in unit.own_declarations() if c.kind in kinds and clang.body_of(c) is not None]


def is_kernel(function: Cursor) -> bool:
    return any(c.kind == CursorKind.CUDAGLOBAL_ATTR for c in function.get_children())


def is_device(function: Cursor) -> bool:
    """Whether a function may run on the device (``__device__``, or a kernel)."""
    return any(c.kind in (CursorKind.CUDAGLOBAL_ATTR, CursorKind.CUDADEVICE_ATTR) for c in function.get_children())


def is_extern_c(function: Cursor) -> bool:
    """``extern "C"``: the symbol is the name itself."""
    return bool(function.kind == CursorKind.FUNCTION_DECL and function.mangled_name == function.spelling)


def named(unit: Unit, name: str) -> list[Cursor]:
    return [f for f in own_functions(unit) if f.spelling == name]


def preferred(found: Sequence[Cursor]) -> list[Cursor]:
    """The ``extern "C"`` ones when there are any, else those that are not ``main``."""
    usable = [f for f in found if f.spelling != "main"]
    return [f for f in usable if is_extern_c(f)] or usable


def listing(functions_: Sequence[Cursor]) -> str:
    return ", ".join(f"'{f.spelling}' (line {f.location.line})" for f in functions_)


def choose(unit: Unit, found: Sequence[Cursor], what: str) -> Cursor:
    """The only one of ``found``. Raises UsageError, listing the candidates, when there are several or none."""
    candidates = preferred(found)
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise UsageError(f"{unit.filename}: no {what}", Location(unit.filename, 1), hint="name one with --entry NAME")
    raise UsageError(
        f"{unit.filename}: several functions could be the entry: {listing(candidates)}",
        unit.location(candidates[0]),
        hint=f"name one with --entry, e.g. --entry {candidates[0].spelling}",
    )


def callees(function: Cursor) -> Iterator[Cursor]:
    """The functions that a body calls, as declared."""
    for node in function.walk_preorder():
        callee = clang.callee_of(node) if node.kind == CursorKind.CALL_EXPR else None
        if callee is not None:
            yield callee


# ------------------------------------------------------------------------------------------------------ parameters


@dataclass(frozen=True, slots=True)
class EntryParameter:
    """A parameter of the entry: its declaration, the module's parameter, and what it is worth while the body is read."""

    declaration: Cursor
    param: Param
    value: Value
    handle: bool = False


def read_parameters(reader: Reader, function: Cursor, space: Space, binds: Mapping[str, int | float]) -> tuple[EntryParameter, ...]:
    """The parameters of an entry: pointers are flat buffers in ``space``, bound scalars are literals.

    Raises UnsupportedError for parameters that have no place in a module, UsageError for a bind of something that is no scalar parameter.
    """
    found = tuple(_parameter(reader, d, space, binds, i) for i, d in enumerate(clang.parameters(function)))
    scalars = {p.param.sym.name for p in found if not p.param.is_buffer and not p.handle}
    for name in binds:
        if name not in scalars:
            known = f"it has {', '.join(sorted(scalars))}" if scalars else "it has none"
            raise UsageError(
                f"--bind {name}: '{function.spelling}' has no scalar parameter '{name}'", reader.location(function), hint=known
            )
    return found


def _parameter(reader: Reader, declaration: Cursor, space: Space, binds: Mapping[str, int | float], position: int) -> EntryParameter:
    name = declaration.spelling or f"arg{position}"
    type_ = reader.ctype(declaration)
    sym = Sym(name)
    match type_:
        case DType():
            value: Expr = Var(sym, type_)
            if name in binds:
                value = _bound(binds[name], type_, name, reader, declaration)
            return EntryParameter(declaration, Param(sym, type_, space=space), value)
        case PointerType(pointee, const) if not isinstance(pointee, OpaqueType):
            dtype = _pointee_dtype(reader, declaration, pointee, name)
            buffer = Buffer(sym, dtype, None, space)
            param = Param(sym, dtype, (), space, const=const)
            return EntryParameter(declaration, param, Pointer(buffer, ZERO, dtype.bytes, pointee, const))
        case PointerType(OpaqueType(handle), _) if handle.removeprefix("struct ") in _HANDLES:
            reader.note(f"parameter '{name}' is a handle: work is ordered without it, and it is passed as 0", declaration)
            return EntryParameter(declaration, Param(sym, DType.U64, space=space), Pointer(None, ZERO, 1, Void()), handle=True)
    raise _refusal(reader, declaration, type_, name)


def _bound(value: int | float, dtype: DType, name: str, reader: Reader, declaration: Cursor) -> Const:
    if dtype.is_float:
        return literal(value, dtype)
    if value != int(value) or not dtype.min_int <= int(value) <= dtype.max_int:
        raise UsageError(f"--bind {name}={value}: not a value of type {dtype}", reader.location(declaration))
    return literal(int(value), dtype)


def _pointee_dtype(reader: Reader, declaration: Cursor, pointee: CType, name: str) -> DType:
    if isinstance(pointee, Void):
        raise reader.refuse(f"parameter '{name}' is a 'void *': its element type is unknown", declaration, "give it its element type")
    if isinstance(pointee, PointerType):
        raise reader.refuse(f"parameter '{name}' is an array of pointers", declaration, "pass one flat buffer")
    dtype = element_dtype(pointee)
    if dtype is None:
        raise reader.refuse(
            f"parameter '{name}' points to '{describe(pointee)}'", declaration, "use buffers of scalars, one for each member"
        )
    return dtype


def _refusal(reader: Reader, declaration: Cursor, type_: CType, name: str) -> UnsupportedError:
    if isinstance(type_, ReferenceType):
        return reader.refuse(f"parameter '{name}' is a reference", declaration, "pass scalars by value and buffers by pointer")
    if isinstance(type_, RecordType | Vec):
        return reader.refuse(f"parameter '{name}' is a '{describe(type_)}' by value", declaration, "pass its members as scalars")
    return reader.refuse(
        f"parameter '{name}' of type '{describe(type_)}' is not supported", declaration, "use pointers to scalars and scalars"
    )


def assumptions(parameters: Sequence[EntryParameter], binds: Mapping[str, int | float]) -> tuple[Expr, ...]:
    """What ``--bind`` and handles say about the scalar parameters."""
    found: list[Expr] = []
    for p in parameters:
        if p.handle:
            found.append(eq(Var(p.param.sym, DType.U64), Const(0, DType.U64)))
        elif p.param.sym.name in binds and isinstance(p.value, Const):
            found.append(Binary("eq", Var(p.param.sym, p.param.dtype), p.value))
    return tuple(found)


def bind(reader: Reader, function: Cursor, parameters: Sequence[EntryParameter]) -> None:
    """Makes the parameters visible in the current frame."""
    for p in parameters:
        functions.bind_parameter(reader, function, p.declaration, p.value, p.declaration)
