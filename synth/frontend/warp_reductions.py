"""``__reduce_*_sync``: a reduction of a warp that leaves the result in every lane (CUDA C++ Programming Guide, "Warp Reduce Functions").

It is read as a butterfly of shuffles, which is exact for integers. Over a part of a warp the partners of a butterfly may be missing, so the
mask must name all lanes.
"""

from __future__ import annotations

from collections.abc import Callable

from synth.frontend.reader import expressions, memory
from synth.frontend.reader.arithmetic import binary, convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Call, Const, Expr, Load, Region, Space, Sym


def read_reduction(reader: Reader, op: str, full: Expr, lanes: int, call: Cursor, arguments: list[Cursor]) -> Value:
    """The value of ``__reduce_<op>_sync(mask, value)``. Raises UnsupportedError for masks that are not known to be ``full``."""

    def read(argument: Cursor) -> Callable[[], Value]:
        return lambda: expressions.read_scalar(reader, argument)

    values = reader.in_order(*(read(a) for a in arguments))
    mask, value = (memory.scalar_value(reader, v, a) for v, a in zip(values, arguments, strict=True))
    result, where = reader.ctype(call), reader.location(call)
    assert isinstance(full.type, DType) and isinstance(result, DType)
    if not isinstance(mask, Const) or convert(mask, full.type) != full:
        raise reader.refuse(f"'{call.spelling}' over a part of a warp", call, "use the mask of all lanes")
    dtype = DType.U32 if op == "add" else result  # sums wrap
    value = convert(convert(value, result), dtype)
    distance = lanes // 2
    while distance:
        value = reader.let("partial", value, call)
        other = Sym("shfl_xor")
        operands = (full, value, literal(distance, DType.I32), literal(lanes, DType.I32))
        reader.emit(Alloc(other, dtype, (), Space.LOCAL, loc=where), Call("warp.shfl_xor", (Region(other, ()),), operands, where))
        value = binary(op, value, Load(other, (), dtype))
        distance //= 2
    return convert(reader.let("reduced", value, call), result)
