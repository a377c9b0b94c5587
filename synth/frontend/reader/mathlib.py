"""Functions known by name: C's and C++'s math library, CUDA's float and double device functions, integer intrinsics and bit casts.

Sources: ISO C 7.12; CUDA Math API Reference Manual (single and double precision mathematical functions, intrinsics, type casting
intrinsics, integer intrinsics). Fast forms (``__expf``) are the function itself: their reduced accuracy is not part of a program's meaning.
Rounding-mode forms are read for round-to-nearest only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from synth.frontend.reader import expressions, memory
from synth.frontend.reader.arithmetic import binary, bitcast, convert, literal, unary
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import NoValue, Place, Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import MATH_FNS, Const, Expr, Math, Select

_F32, _F64, _I32, _U32, _I64, _U64 = DType.F32, DType.F64, DType.I32, DType.U32, DType.I64, DType.U64

# C name without the f suffix -> IR function.
_STANDARD: dict[str, str] = {name: name for name in MATH_FNS if name != "abs"} | {"fabs": "abs", "nearbyint": "rint"}

_FAST: dict[str, str] = {
    "__expf": "exp", "__exp10f": "exp10", "__logf": "log", "__log2f": "log2", "__log10f": "log10", "__sinf": "sin", "__cosf": "cos",
    "__tanf": "tan", "__powf": "pow", "__tanhf": "tanh", "__fsqrt_rn": "sqrt", "__dsqrt_rn": "sqrt", "__frsqrt_rn": "rsqrt",
    "__fmaf_rn": "fma", "__fma_rn": "fma", "__builtin_fmaf": "fma", "__builtin_fma": "fma", "__builtin_expf": "exp",
    "__builtin_sqrtf": "sqrt",
    "__builtin_fabsf": "abs", "__builtin_fabs": "abs", "__builtin_sqrt": "sqrt", "__builtin_exp": "exp", "__builtin_floorf": "floor",
}  # fmt: skip

_BINARY: dict[str, tuple[str, DType]] = {
    "__fadd_rn": ("add", _F32), "__fsub_rn": ("sub", _F32), "__fmul_rn": ("mul", _F32), "__fdiv_rn": ("div", _F32),
    "__fdividef": ("div", _F32), "fdividef": ("div", _F32), "__dadd_rn": ("add", _F64), "__dsub_rn": ("sub", _F64),
    "__dmul_rn": ("mul", _F64), "__ddiv_rn": ("div", _F64), "fmaxf": ("max", _F32), "fminf": ("min", _F32), "fmax": ("max", _F64),
    "fmin": ("min", _F64), "umin": ("min", _U32), "umax": ("max", _U32), "llmin": ("min", _I64), "llmax": ("max", _I64),
    "ullmin": ("min", _U64), "ullmax": ("max", _U64), "__builtin_fmaxf": ("max", _F32), "__builtin_fminf": ("min", _F32),
}  # fmt: skip

_BITCASTS: dict[str, tuple[DType, DType]] = {
    "__float_as_int": (_F32, _I32), "__float_as_uint": (_F32, _U32), "__int_as_float": (_I32, _F32), "__uint_as_float": (_U32, _F32),
    "__double_as_longlong": (_F64, _I64), "__longlong_as_double": (_I64, _F64),
}  # fmt: skip

_CAST_FROM = {
    "float": _F32,
    "double": _F64,
    "int": _I32,
    "uint": _U32,
    "ll": _I64,
    "ull": _U64,
}

_ROUNDED_CASTS: dict[str, tuple[DType, str, DType]] = {
    f"__{a}2{b}_{mode}": (_CAST_FROM[a], fn, _CAST_FROM[b])
    for a in ("float", "double")
    for b in ("int", "uint", "ll", "ull")
    for mode, fn in (("rn", "rint"), ("rz", ""), ("ru", "ceil"), ("rd", "floor"))
}
_PLAIN_CASTS: dict[str, tuple[DType, DType]] = {
    f"__{a}2{b}_rn": (_CAST_FROM[a], _CAST_FROM[b]) for a in ("int", "uint", "ll", "ull") for b in ("float", "double")
} | {"__double2float_rn": (_F64, _F32), "__int2double_rn": (_I32, _F64), "__uint2double_rn": (_U32, _F64)}

# ``lrintf`` and the like: rounding, then conversion to long (long long has the same width).
_INTEGER_ROUNDINGS = {"lrint": "rint", "llrint": "rint", "lround": "round", "llround": "round"}


def call(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    """The value of a call of a library function, or None when the name is none of ours."""
    name = name.removeprefix("std::")
    for reading in (_math, _binary_function, _min_max, _cast_function, _classification, _named):
        value = reading(reader, name, cursor, arguments)
        if value is not None:
            return value
    return None


def _scalars(reader: Reader, arguments: Sequence[Cursor], dtype: DType) -> list[Expr]:
    """All arguments, from left to right, converted."""

    def read(argument: Cursor) -> Callable[[], Value]:
        return lambda: expressions.read_scalar(reader, argument)

    values = reader.in_order(*(read(a) for a in arguments))
    return [convert(memory.scalar_value(reader, v, a), dtype) for v, a in zip(values, arguments, strict=True)]


def _result(reader: Reader, cursor: Cursor) -> DType | None:
    type_ = reader.ctype(cursor)
    return type_ if isinstance(type_, DType) else None


def _math(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    fn = _FAST.get(name) or _STANDARD.get(name) or (_STANDARD.get(name[:-1]) if name.endswith("f") else None)
    dtype = _result(reader, cursor)
    if fn is None or dtype is None or not dtype.is_float or not arguments:
        return None
    return Math(fn, tuple(_scalars(reader, arguments, dtype)), dtype)


def _binary_function(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    if name not in _BINARY or len(arguments) != 2:
        return None
    op, dtype = _BINARY[name]
    result = _result(reader, cursor)
    if name in ("fmax", "fmin") and result is not None:
        dtype = result  # std::fmax(float, float)
    a, b = _scalars(reader, arguments, dtype)
    return binary(op, a, b)


def _min_max(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    dtype = _result(reader, cursor)
    if name not in ("min", "max") or len(arguments) != 2 or dtype is None:
        return None
    a, b = _scalars(reader, arguments, dtype)
    callee = cursor.referenced
    by_reference = callee is not None and any(t.kind.name == "LVALUEREFERENCE" for t in callee.type.argument_types())
    if dtype.is_float and by_reference:  # std::max(a, b) is ``a < b ? b : a``: a NaN in ``a`` stays
        left, right = reader.snapshot(a, "a"), reader.snapshot(b, "b")
        assert isinstance(left, Expr) and isinstance(right, Expr)
        test = binary("lt", left, right) if name == "max" else binary("lt", right, left)
        return Select(test, right, left)
    return binary(name, a, b)


def _cast_function(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    if len(arguments) != 1:
        return None
    if name in _BITCASTS:
        source, target = _BITCASTS[name]
        return bitcast(_scalars(reader, arguments, source)[0], target)
    if name in _PLAIN_CASTS:
        source, target = _PLAIN_CASTS[name]
        return convert(_scalars(reader, arguments, source)[0], target)
    if name in _ROUNDED_CASTS:
        source, fn, target = _ROUNDED_CASTS[name]
        value = _scalars(reader, arguments, source)[0]
        return convert(Math(fn, (value,), source) if fn else value, target)
    rounding = _INTEGER_ROUNDINGS.get(name) or _INTEGER_ROUNDINGS.get(name.removesuffix("f"))
    source_type = reader.ctype(arguments[0])
    if rounding is not None and isinstance(source_type, DType) and source_type.is_float:
        return convert(Math(rounding, (_scalars(reader, arguments, source_type)[0],), source_type), DType.I64)
    return None


def _classification(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    plain = name.removeprefix("__builtin_").removeprefix("__")
    if plain not in ("isnan", "isinf", "isfinite", "signbit", "isnanf", "isinff", "finitef", "isfinited") or len(arguments) != 1:
        return None
    dtype = reader.ctype(arguments[0])
    if not isinstance(dtype, DType) or not dtype.is_float:
        return None
    pinned = reader.snapshot(_scalars(reader, arguments, dtype)[0], "x")
    assert isinstance(pinned, Expr)
    magnitude, infinity = Math("abs", (pinned,), dtype), literal(math.inf, dtype)
    if plain.startswith("isnan"):
        test = binary("ne", pinned, pinned)
    elif plain.startswith("isinf"):
        test = binary("eq", magnitude, infinity)
    elif plain == "signbit":
        bits = _I32 if dtype is _F32 else _I64
        test = binary("lt", bitcast(pinned, bits), literal(0, bits))
    else:
        test = binary("lt", magnitude, infinity)
    result = _result(reader, cursor)
    return convert(test, result) if result is not None else test


# --------------------------------------------------------------------------------------- one reading for each name


def _abs(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    dtype = _result(reader, cursor)
    return Math("abs", tuple(_scalars(reader, arguments, dtype)), dtype) if dtype is not None else None


def _saturate(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
    (x,) = _scalars(reader, arguments, _F32)
    return binary("min", binary("max", x, literal(0.0, _F32)), literal(1.0, _F32))  # NaN gives 0, as documented


def _reciprocal(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        (x,) = _scalars(reader, arguments, dtype)
        return binary("div", literal(1.0, dtype), x)

    return read


def _normcdf(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
    dtype = _result(reader, cursor) or _F32
    (x,) = _scalars(reader, arguments, dtype)
    scaled = binary("mul", x, literal(-math.sqrt(0.5), dtype))
    return binary("mul", literal(0.5, dtype), Math("erfc", (scaled,), dtype))


def _fdim(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
    dtype = _result(reader, cursor) or _F32
    a, b = (_pinned(reader, e) for e in _scalars(reader, arguments, dtype))
    return Select(binary("le", a, b), literal(0.0, dtype), binary("sub", a, b))  # a NaN operand gives a NaN difference


def _pinned(reader: Reader, expr: Expr, name: str = "x") -> Expr:
    return reader.let(name, expr)


def _sincos(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        values = reader.in_order(*(_reading(reader, a) for a in arguments))
        x = _pinned(reader, convert(memory.scalar_value(reader, values[0], cursor), dtype))
        places: list[Place] = [memory.dereference(reader, v, cursor) for v in values[1:]]
        for fn, place in zip(("sin", "cos"), places, strict=True):
            memory.store(reader, place, Math(fn, (x,), dtype), cursor)
        return NoValue()

    return read


def _reading(reader: Reader, argument: Cursor) -> Callable[[], Value]:
    return lambda: expressions.read_value(reader, argument)


def _high_product(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    wide = _I64 if dtype is _I32 else _U64

    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        a, b = (convert(e, wide) for e in _scalars(reader, arguments, dtype))
        return convert(binary("shr", binary("mul", a, b), literal(32, wide)), dtype)

    return read


def _mul24(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        count = literal(8, dtype)
        a, b = (binary("shr", binary("shl", e, count), count) for e in _scalars(reader, arguments, dtype))
        return binary("mul", a, b)

    return read


def _popcount(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        return convert(count_ones(reader, _scalars(reader, arguments, dtype)[0]), _I32)

    return read


def count_ones(reader: Reader, value: Expr) -> Expr:
    """The number of one bits of an unsigned value, by halves (the sum of bit pairs, nibbles, bytes)."""
    dtype = value.type
    assert isinstance(dtype, DType)
    ones = (1 << dtype.bits) - 1

    def c(number: int) -> Const:
        return literal(number, dtype)

    x = _pinned(reader, value)
    x = _pinned(reader, binary("sub", x, binary("and", binary("shr", x, c(1)), c(ones // 3))))
    x = _pinned(reader, binary("add", binary("and", x, c(ones // 5)), binary("and", binary("shr", x, c(2)), c(ones // 5))))
    x = binary("and", binary("add", x, binary("shr", x, c(4))), c(ones // 17))
    return binary("shr", binary("mul", x, c(ones // 255)), c(dtype.bits - 8))


def _leading_zeros(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        x = _scalars(reader, arguments, dtype)[0]
        shift = 1
        while shift < dtype.bits:  # smear the highest one downwards; the zeros left are the leading ones
            x = _pinned(reader, x)
            x = binary("or", x, binary("shr", x, literal(shift, dtype)))
            shift *= 2
        return convert(count_ones(reader, unary("bnot", x)), _I32)

    return read


def _find_first(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    def read(reader: Reader, cursor: Cursor, arguments: Sequence[Cursor]) -> Value:
        x = _pinned(reader, _scalars(reader, arguments, dtype)[0])
        below = binary("and", unary("bnot", x), binary("sub", x, literal(1, dtype)))
        trailing = convert(count_ones(reader, below), _I32)
        return Select(binary("eq", x, literal(0, dtype)), literal(0, _I32), binary("add", trailing, literal(1, _I32)))

    return read


def _infinity(dtype: DType) -> Callable[[Reader, Cursor, Sequence[Cursor]], Value]:
    return lambda reader, cursor, arguments: literal(math.inf, dtype)


_NAMED: dict[str, tuple[int, Callable[[Reader, Cursor, Sequence[Cursor]], Value | None]]] = {
    "abs": (1, _abs), "labs": (1, _abs), "llabs": (1, _abs), "__builtin_abs": (1, _abs), "__saturatef": (1, _saturate),
    "__frcp_rn": (1, _reciprocal(_F32)), "__drcp_rn": (1, _reciprocal(_F64)), "normcdff": (1, _normcdf), "normcdf": (1, _normcdf),
    "fdimf": (2, _fdim), "fdim": (2, _fdim), "sincosf": (3, _sincos(_F32)), "__sincosf": (3, _sincos(_F32)), "sincos": (3, _sincos(_F64)),
    "__mulhi": (2, _high_product(_I32)), "__umulhi": (2, _high_product(_U32)), "__mul24": (2, _mul24(_I32)), "__umul24": (2, _mul24(_U32)),
    "__popc": (1, _popcount(_U32)), "__popcll": (1, _popcount(_U64)), "__clz": (1, _leading_zeros(_U32)),
    "__clzll": (1, _leading_zeros(_U64)), "__ffs": (1, _find_first(_U32)), "__ffsll": (1, _find_first(_U64)),
    "__builtin_inff": (0, _infinity(_F32)), "__builtin_inf": (0, _infinity(_F64)), "__builtin_huge_valf": (0, _infinity(_F32)),
    "__builtin_huge_val": (0, _infinity(_F64)), "__builtin_popcount": (1, _popcount(_U32)), "__builtin_popcountll": (1, _popcount(_U64)),
}  # fmt: skip


def _named(reader: Reader, name: str, cursor: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    entry = _NAMED.get(name)
    if entry is None or entry[0] != len(arguments):
        return None
    return entry[1](reader, cursor, arguments)
