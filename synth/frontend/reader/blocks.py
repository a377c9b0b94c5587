"""``memcpy`` and ``memset`` inside kernels: copies of whole elements between two addresses of known granularity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from synth.frontend.reader import expressions, memory
from synth.frontend.reader.arithmetic import binary, convert, literal
from synth.frontend.reader.clang import Cursor, strip
from synth.frontend.reader.places import Memory, NoValue, Pointer, Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType, Vec, scalar
from synth.ir.grammar import Binary, Const, Expr, For, Sym, Var

_WHOLE_LANES = 16  # longest copy that is one vector load and store


def call(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    """The value of a ``memcpy`` or ``memset`` call, or None for other names."""
    name = name.removeprefix("std::").removeprefix("__builtin_")
    if name not in ("memcpy", "memset") or len(arguments) != 3:
        return None
    target, source, size = reader.in_order(
        lambda: expressions.read_value(reader, strip(arguments[0])),
        lambda: expressions.read_value(reader, strip(arguments[1])),
        lambda: expressions.read_value(reader, arguments[2]),
    )
    if not isinstance(target, Pointer) or target.buffer is None or (name == "memcpy" and not isinstance(source, Pointer)):
        raise reader.refuse(f"this {name}", cursor, "assign the variables instead")
    element = scalar(target.buffer.dtype)
    count = _elements(memory.scalar_value(reader, size, cursor), element)
    if count is None:
        raise reader.refuse(f"{name} of a size that is not a whole number of elements", cursor, "copy the elements in a loop")
    if name == "memset":
        _fill(reader, target, memory.scalar_value(reader, source, cursor), element, count, cursor)
    elif isinstance(source, Pointer):
        _copy(reader, target, source, element, count, cursor)
    return NoValue()


def _elements(size: Expr, element: DType) -> Expr | None:
    if isinstance(size, Const) and int(size.value) % element.bytes == 0:
        return literal(int(size.value) // element.bytes, DType.I64)
    if element.bytes == 1:
        return convert(size, DType.I64)
    if isinstance(size, Binary) and size.op == "mul":
        for x, y in ((size.a, size.b), (size.b, size.a)):
            if isinstance(y, Const) and int(y.value) % element.bytes == 0:
                return binary("mul", convert(x, DType.I64), literal(int(y.value) // element.bytes, DType.I64))
    return None


def _copy(reader: Reader, target: Pointer, source: Pointer, element: DType, count: Expr, cursor: Cursor) -> None:
    if isinstance(count, Const) and 1 < int(count.value) <= _WHOLE_LANES:
        whole = Vec(element, int(count.value))
        value = memory.load(reader, Memory(memory.view(source, whole)), cursor)
        memory.store(reader, Memory(memory.view(target, whole)), value, cursor)
        return
    to, start = memory.view(target, element), memory.view(source, element)

    def one(index: Expr) -> None:
        value = memory.load(reader, memory.dereference(reader, memory.advance(reader, start, index, cursor), cursor), cursor)
        memory.store(reader, memory.dereference(reader, memory.advance(reader, to, index, cursor), cursor), value, cursor)

    _each(reader, count, one, cursor)


def _fill(reader: Reader, target: Pointer, byte: Expr, element: DType, count: Expr, cursor: Cursor) -> None:
    zero = isinstance(byte, Const) and int(byte.value) == 0
    if not zero and element.bytes != 1:
        raise reader.refuse("memset with a byte that is not zero", cursor, "store the elements in a loop")
    value = literal(0, element) if zero else convert(byte, element)
    to = memory.view(target, element)

    def one(index: Expr) -> None:
        memory.store(reader, memory.dereference(reader, memory.advance(reader, to, index, cursor), cursor), value, cursor)

    _each(reader, count, one, cursor)


def _each(reader: Reader, count: Expr, body: Callable[[Expr], None], cursor: Cursor) -> None:
    sym = Sym("i")
    with reader.body() as emitted:
        body(Var(sym, DType.I64))
    zero, one = literal(0, DType.I64), literal(1, DType.I64)
    reader.emit(For(sym, DType.I64, zero, count, one, tuple(emitted), loc=reader.location(cursor)))
