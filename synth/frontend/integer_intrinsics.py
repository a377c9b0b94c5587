"""Integer intrinsics of device code as plain arithmetic (CUDA Math API Reference Manual, "Integer Intrinsics"; HIP documentation, "Integer
intrinsics"). Sums wrap: they are taken in unsigned arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from synth.frontend.reader import expressions, memory
from synth.frontend.reader.arithmetic import binary, convert, lane, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Const, Expr, Select

_I32, _U32, _I64, _U64 = DType.I32, DType.U32, DType.I64, DType.U64

Reading = Callable[[Reader, Cursor, list[Expr]], Expr]


def read_integer(reader: Reader, name: str, call: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    """The value of an integer intrinsic, or None when ``name`` is none (``__hadd`` of halves among them)."""
    reading, result = _READINGS.get(name), reader.ctype(call)
    if reading is None or not isinstance(result, DType) or not result.is_int:
        return None

    def read(argument: Cursor) -> Callable[[], Value]:
        return lambda: expressions.read_value(reader, argument)

    values = reader.in_order(*(read(a) for a in arguments))
    pinned = [reader.let("x", memory.scalar_value(reader, v, a), a) for v, a in zip(values, arguments, strict=True)]
    return convert(reading(reader, call, pinned), result)


def _u32(value: int) -> Const:
    return literal(value, _U32)


def _reversed_bits(reader: Reader, call: Cursor, arguments: list[Expr]) -> Expr:
    """The halves of each group change places: bits, pairs, nibbles, bytes, halfwords."""
    x = convert(arguments[0], _U32)
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        down = binary("and", binary("shr", x, _u32(shift)), _u32(mask))
        x = reader.let("bits", binary("or", down, binary("shl", binary("and", x, _u32(mask)), _u32(shift))), call)
    return x


def _joined(low: Expr, high: Expr) -> Expr:
    upper = binary("shl", convert(convert(high, _U32), _U64), literal(32, _U64))
    return binary("or", upper, convert(convert(low, _U32), _U64))


def _funnel(left: bool) -> Reading:
    """``hi:lo`` shifted by ``shift & 31``; to the left the upper word is the result, to the right the lower."""

    def read(reader: Reader, call: Cursor, arguments: list[Expr]) -> Expr:
        low, high, shift = arguments
        count = convert(binary("and", convert(shift, _U32), _u32(31)), _U64)
        if left:
            return convert(binary("shr", binary("shl", _joined(low, high), count), literal(32, _U64)), _U32)
        return convert(binary("shr", _joined(low, high), count), _U32)

    return read


def _permuted(reader: Reader, call: Cursor, arguments: list[Expr]) -> Expr:
    """Byte ``n`` of the result is byte ``s[n]`` of ``y:x``. Selectors above 7 replicate a sign on the hardware (PTX ISA, ``prmt``), which
    the manual of the function does not promise."""
    selector = arguments[2]
    if not isinstance(selector, Const) or int(selector.value) & 0x8888:
        raise reader.refuse("'__byte_perm' with this selector", call, "use a constant whose digits are 0 to 7")
    result: Expr = _u32(0)
    for n in range(4):
        chosen = (int(selector.value) >> 4 * n) & 7
        word = convert(arguments[chosen // 4], _U32)
        byte = binary("and", binary("shr", word, _u32(chosen % 4 * 8)), _u32(255))
        result = byte if n == 0 else binary("or", result, binary("shl", byte, _u32(8 * n)))
    return result


def _difference_sum(dtype: DType) -> Reading:
    """``|x - y| + z``; the difference of two ints is exact as an unsigned number."""

    def read(reader: Reader, call: Cursor, arguments: list[Expr]) -> Expr:
        x, y = (convert(e, dtype) for e in arguments[:2])
        a, b = convert(x, _U32), convert(y, _U32)
        difference = Select(binary("lt", x, y), binary("sub", b, a), binary("sub", a, b))
        return binary("add", difference, convert(arguments[2], _U32))

    return read


def _mean(rounding: int) -> Reading:
    """``(x + y + rounding) >> 1`` without overflow."""

    def read(reader: Reader, call: Cursor, arguments: list[Expr]) -> Expr:
        x, y = (convert(convert(e, _I32), _I64) for e in arguments)
        return binary("shr", binary("add", binary("add", x, y), literal(rounding, _I64)), literal(1, _I64))

    return read


def _dot4(reader: Reader, call: Cursor, arguments: list[Expr]) -> Expr:
    """``c`` and the products of the four bytes of ``a`` and ``b``; the result's type says whether bytes have signs."""
    result = reader.ctype(call)
    assert isinstance(result, DType)
    total = convert(arguments[2], _U32)
    for n in range(4):
        product = binary("mul", _byte(arguments[0], n, result), _byte(arguments[1], n, result))
        total = binary("add", total, convert(product, _U32))
    return total


def _byte(word: Expr, n: int, dtype: DType) -> Expr:
    if isinstance(word.type, Vec):
        return convert(lane(word, n), dtype)
    moved = binary("shl", convert(word, _U32), _u32(24 - 8 * n))
    return binary("shr", convert(moved, dtype), literal(24, dtype))  # of i32 arithmetic, of u32 logical


_READINGS: dict[str, Reading] = {
    "__brev": _reversed_bits,
    "__funnelshift_l": _funnel(left=True),
    "__funnelshift_r": _funnel(left=False),
    "__byte_perm": _permuted,
    "__sad": _difference_sum(_I32),
    "__usad": _difference_sum(_U32),
    "__hadd": _mean(0),
    "__rhadd": _mean(1),
    "__dp4a": _dot4,
}
