"""``half`` and ``bfloat16`` of device code, one or two at a time: constructors, conversions, operators and functions.

Sources: CUDA Math API Reference, "Half Precision Intrinsics" and "Bfloat16 Precision Intrinsics"; HIP documentation, "HIP math API". Every
operation rounds once to its type, to nearest even; comparisons are ordered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from synth.frontend.reader import calls, expressions, lvalues, memory
from synth.frontend.reader.arithmetic import convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Place, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import CType
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import Binary, Bitcast, Expr, Lane, MakeVec, Math, Unary

_F16, _BF16, _F32 = DType.F16, DType.BF16, DType.F32
RECORDS: dict[str, CType] = {
    "__half": _F16,
    "__half2": Vec(_F16, 2),
    "__nv_bfloat16": _BF16,
    "__nv_bfloat162": Vec(_BF16, 2),
    "__hip_bfloat16": _BF16,
    "__hip_bfloat162": Vec(_BF16, 2),
    "hip_bfloat16": _BF16,
}
_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "<": "lt", ">": "gt", "<=": "le", ">=": "ge", "==": "eq", "!=": "ne"}
_MATH = {
    "exp": "exp", "exp2": "exp2", "exp10": "exp10", "log": "log", "log2": "log2", "log10": "log10", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "sin": "sin", "cos": "cos", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "tanh": "tanh",
}  # fmt: skip
_INTEGERS = {"int": DType.I32, "uint": DType.U32, "short": DType.I16, "ushort": DType.U16, "ll": DType.I64, "ull": DType.U64}
Reading = Callable[[list[Expr]], Expr]  # what a function does with its arguments
_HALF = "(?:half|bfloat16)"
_PAIR = "(?:half2|bfloat162)"


def read_half(reader: Reader, name: str, call: Cursor, arguments: Sequence[Cursor]) -> Place | Value | None:
    """What a call is when it belongs to half precision; None when it does not."""
    if name in RECORDS and arguments:
        return _construct(reader, call, arguments)
    method = re.fullmatch(r"(\w+)::operator [\w ]+", name)
    if method and method[1] in RECORDS:
        target = reader.ctype(call)
        value = memory.scalar_value(reader, memory.load(reader, calls.object_of(reader, call), call), call)
        return convert(value, target) if isinstance(target, DType) else None
    operator = re.fullmatch(r"operator(\+|-|\*|/|<=|>=|==|!=|<|>)(=?)", name)
    if operator:
        return _operator(reader, operator[1], bool(operator[2]), arguments)
    if not re.match(r"__|h\d?[a-z]|make_", name):
        return None
    given = [a for a in arguments if a.location.line > 0]
    if not any(_is_half(reader.ctype(c)) for c in (call, *given)):
        return None
    return _function(reader, name, call, given)


def _is_half(type_: object) -> bool:
    return isinstance(type_, DType | Vec) and scalar(type_) in (_F16, _BF16)


def _read(reader: Reader, arguments: Sequence[Cursor]) -> list[Expr]:
    values = reader.in_order(*(lambda a=a: expressions.read_scalar(reader, a) for a in arguments))
    return [memory.scalar_value(reader, v, a) for v, a in zip(values, arguments, strict=True)]


def _to(value: Expr, type_: Type) -> Expr:
    """A value in a type: each lane converted, a scalar in all lanes of a vector."""
    if isinstance(type_, Vec) and not isinstance(value.type, Vec):
        return MakeVec((convert(value, type_.dtype),) * type_.lanes)
    if isinstance(type_, Vec) and value.type != type_:
        return MakeVec(tuple(convert(Lane(value, i), type_.dtype) for i in range(type_.lanes)))
    return convert(value, type_) if isinstance(type_, DType) else value


def _construct(reader: Reader, call: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    type_, values = reader.ctype(call), _read(reader, arguments)
    if isinstance(type_, Vec) and len(values) == type_.lanes:
        return MakeVec(tuple(convert(v, type_.dtype) for v in values))
    return _to(values[0], type_) if len(values) == 1 and isinstance(type_, DType | Vec) else None


def _operator(reader: Reader, symbol: str, assigns: bool, arguments: Sequence[Cursor]) -> Place | Value | None:
    types = [reader.ctype(a) for a in arguments]
    if not types or not all(_is_half(t) for t in types):
        return None
    if assigns:
        place = lvalues.read_place(reader, arguments[0])
        (value,) = _read(reader, arguments[1:])
        old = memory.scalar_value(reader, memory.load(reader, place, arguments[0]), arguments[0])
        memory.store(reader, place, Binary(_OPERATORS[symbol], old, value), arguments[0])
        return place
    values = _read(reader, arguments)
    if len(values) == 1:
        return Unary("neg", values[0]) if symbol == "-" else values[0]
    if isinstance(values[0].type, Vec) and symbol not in "+-*/":
        return None
    return Binary(_OPERATORS[symbol], values[0], values[1])


def _function(reader: Reader, name: str, call: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    type_ = reader.ctype(call)
    if not isinstance(type_, DType | Vec):
        return None
    found = _arithmetic(name, type_) or _conversion(name, type_) or _pairs(name, type_)
    return found(_read(reader, arguments)) if found is not None else None


def _arithmetic(name: str, type_: Type) -> Reading | None:
    """Operations on equal types: ``__hadd``, ``__hadd2``, ``h2exp``, ``__hfma``, ``__hlt``."""
    plain = re.fullmatch(r"__h(add|sub|mul|div|max|min)2?(?:_rn)?(_sat)?|__h2(div)", name)
    if plain:
        op = plain[1] or plain[3]
        if plain[2]:
            return lambda v: _saturated(Binary(op, v[0], v[1]))
        return lambda v: Binary(op, v[0], v[1])
    if re.fullmatch(r"__hfma2?(_rn)?", name):
        return lambda v: Math("fma", tuple(v), type_)
    if name in ("__hfma_relu", "__hfma2_relu"):
        return lambda v: Binary("max", Math("fma", tuple(v), type_), _to(literal(0, _F32), type_))
    compare = re.fullmatch(r"__h(eq|ne|lt|le|gt|ge)", name)
    if compare:
        return lambda v: Binary(compare[1], v[0], v[1])
    if name == "__hisnan":
        return lambda v: Binary("ne", v[0], v[0])
    if name in ("__hneg", "__hneg2"):
        return lambda v: Unary("neg", v[0])
    if name in ("__habs", "__habs2"):
        return lambda v: Math("abs", (v[0],), type_)
    function = re.fullmatch(r"h2?([a-z]+(?:2|10)?)", name)
    if function and function[1] in _MATH:
        return lambda v: Math(_MATH[function[1]], (v[0],), type_)
    if name in ("hrcp", "h2rcp"):
        return lambda v: Binary("div", _to(literal(1, _F32), type_), v[0])
    return None


def _saturated(value: Expr) -> Expr:
    return Binary("min", Binary("max", value, _to(literal(0, _F32), value.type)), _to(literal(1, _F32), value.type))


def _conversion(name: str, type_: Type) -> Reading | None:
    """Conversions of single values: ``__half2float``, ``__float2bfloat16_rn``, ``__half2int_rz``, ``__half_as_ushort``."""
    if re.fullmatch(rf"__(?:float|double|int|uint|short|ushort|ll|ull)2{_HALF}(?:_rn)?", name) or re.fullmatch(rf"__{_HALF}2float", name):
        return lambda v: _to(v[0], type_)
    if re.fullmatch(rf"__{_HALF}_as_u?short|__u?short_as_{_HALF}", name):
        return lambda v: Bitcast(v[0], type_)
    to_integer = re.fullmatch(rf"__{_HALF}2(int|uint|short|ushort|ll|ull)_(rn|rz|ru|rd)", name)
    if to_integer:
        rounding = {"rn": "rint", "rz": "trunc", "ru": "ceil", "rd": "floor"}[to_integer[2]]
        return lambda v: convert(Math(rounding, (convert(v[0], _F32),), _F32), _INTEGERS[to_integer[1]])
    return None


def _pairs(name: str, type_: Type) -> Reading | None:
    """Two values at a time: ``__floats2half2_rn``, ``__half22float2``, ``__low2float``, ``__halves2half2``."""
    if re.fullmatch(rf"__floats2{_PAIR}_rn|__halves2{_PAIR}|make_{_PAIR}", name):
        return lambda v: MakeVec(tuple(convert(x, scalar(type_)) for x in v))
    if re.fullmatch(rf"__float2{_PAIR}_rn|__{_HALF}2{_PAIR}|__float22{_PAIR}_rn|__{_PAIR}2float2|__{_HALF}22float2", name):
        return lambda v: _to(v[0], type_)
    part = re.fullmatch(r"__(low|high)2(float|half|bfloat16)", name)
    if part:
        return lambda v: _to(Lane(v[0], int(part[1] == "high")), scalar(type_))
    both = re.fullmatch(rf"__(low|high)2{_PAIR}", name)
    if both:
        return lambda v: _to(Lane(v[0], int(both[1] == "high")), type_)
    if name == "__lowhigh2highlow":
        return lambda v: MakeVec((Lane(v[0], 1), Lane(v[0], 0)))
    two = re.fullmatch(r"__(lows|highs)2(?:half2|bfloat162)", name)
    if two:
        lane = int(two[1] == "highs")
        return lambda v: MakeVec((Lane(v[0], lane), Lane(v[1], lane)))
    return None


def as_word(value: Expr) -> Expr:
    """A vector of 32 or 64 bits as the unsigned word of its bits; other values as they are."""
    type_ = value.type
    bits = type_.dtype.bits * type_.lanes if isinstance(type_, Vec) else 0
    return Bitcast(value, DType.U32 if bits == 32 else DType.U64) if bits in (32, 64) else value
