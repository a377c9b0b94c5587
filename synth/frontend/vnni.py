"""AVX-512 intrinsics in C sources: each call is replaced by the meaning it has in ``synth.intrinsics.avx512``.

In our ``immintrin.h`` integer registers are vectors of 64-bit lanes, viewed as what an intrinsic works on by ``Bitcast``; masks are
records, read as vectors of ``bool`` (bit ``i`` is lane ``i``), and their conversions from and to integers are read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from synth.frontend.reader import clang, expressions, lvalues, memory
from synth.frontend.reader.arithmetic import binary, bitcast, convert, lane, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Memory, NoValue, Place, PlacePointer, Pointer, Value
from synth.frontend.reader.reader import Reader
from synth.intrinsics import avx512
from synth.intrinsics.avx512 import Intrinsic
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import MATH_FNS, Binary, Bitcast, Broadcast, Cast, Const, Expr, Lane, Load, MakeVec, Math, Reduce, Store, Unary

MASKS: dict[str, Vec] = {f"__mmask{n}": Vec(DType.BOOL, n) for n in (8, 16, 32, 64)}

_CONSTANTS = {"_CMP_EQ_OQ": 0, "_CMP_NEQ_UQ": 4, "_CMP_LT_OQ": 17, "_CMP_LE_OQ": 18, "_CMP_GE_OQ": 29, "_CMP_GT_OQ": 30} | {
    f"_MM_CMPINT_{name}": i for i, name in enumerate(("EQ", "LT", "LE", "FALSE", "NE", "NLT", "NLE", "TRUE"))
}
# Predicates that differ from the table's only in signalling, which the IR does not model.
_QUIET = {1: 17, 2: 18, 13: 29, 14: 30}
_VECTOR_MATH = re.compile(r"_ZGV[bde]N(\d+)(v+)_(\w+)")
_MASK_OPERATORS = {"operator&": "and", "operator|": "or", "operator^": "xor"}


def record(name: str) -> Vec | None:
    """The type of a mask record."""
    return MASKS.get(name)


def call(reader: Reader, name: str, call: Cursor) -> Place | Value | None:
    """The value of an intrinsic call, or None for a function that is no intrinsic."""
    arguments = list(call.get_arguments())
    if name.startswith("_mm"):
        return _intrinsic(reader, name, call, arguments)
    vector = _VECTOR_MATH.fullmatch(name)
    if vector:
        return _vector_math(reader, call, vector[3], int(vector[1]), arguments)
    if name in MASKS:
        return mask(reader, _one(reader, arguments[0]), MASKS[name].lanes)
    if name.startswith("__mmask") and "::operator" in name:
        return _mask_member(reader, call, name)
    if name in _MASK_OPERATORS or name in ("operator~", "operator==", "operator!="):
        return _mask_operator(reader, name, arguments)
    return None


def _one(reader: Reader, argument: Cursor) -> Expr:
    return expressions.read_scalar(reader, argument)


# ------------------------------------------------------------------------------------------------------ intrinsics


def _intrinsic(reader: Reader, name: str, call: Cursor, arguments: list[Cursor]) -> Value | None:
    type_ = reader.ctype(call)
    zeroed = re.fullmatch(r"_mm\d*_setzero_\w+", name)
    if zeroed and isinstance(type_, Vec):
        return Broadcast(literal(0, type_.dtype), type_.lanes)
    group = avx512.by_name().get(name)
    if group is None:
        if name in ("_mm_malloc", "_mm_free"):
            return None
        raise reader.refuse(f"intrinsic '{name}' is not supported", call, "see docs for the intrinsics that are read")
    found = _selected(reader, group, call, arguments)
    parameters = found.params
    if found.kind == "load":
        return _adapted(reader, _load(reader, found, call, arguments), type_, call)
    if found.kind == "store":
        return _store(reader, found, call, arguments)
    read = reader.in_order(*((lambda a=a: expressions.read_value(reader, a)) for a in arguments[: len(parameters)]))
    values = [_fitted(reader, v, p, a) for v, p, a in zip(read, parameters, arguments, strict=False)]
    assert found.meaning is not None
    return _adapted(reader, found.meaning(*values), type_, call)


def _selected(reader: Reader, group: Sequence[Intrinsic], call: Cursor, arguments: list[Cursor]) -> Intrinsic:
    """The entry whose immediate is the call's last argument."""
    if all(i.immediate is None for i in group):
        return group[0]
    given = clang.evaluate(arguments[-1])
    wanted = () if given is None else (int(given), _QUIET.get(int(given)))
    for entry in group:
        if entry.immediate is not None and _immediate(entry.immediate) in wanted:
            return entry
    raise reader.refuse(f"intrinsic '{group[0].name}' with the immediate {given}", call, "see docs for the intrinsics that are read")


def _immediate(text: str) -> int:
    return _CONSTANTS[text] if text in _CONSTANTS else int(text, 0)


def _vector(found: Intrinsic) -> Vec:
    moved = (
        found.result
        if found.kind == "load"
        else next(p for p in reversed(found.params) if isinstance(p, Vec) and p.dtype is not DType.BOOL)
    )
    assert isinstance(moved, Vec)
    return moved


def _address(reader: Reader, argument: Cursor, type_: Vec) -> Place:
    value = expressions.read_value(reader, argument)
    if isinstance(value, PlacePointer):
        return value.place
    if not isinstance(value, Pointer):
        raise reader.refuse("this address", argument, "pass an address inside a buffer")
    return Memory(memory.view(value, type_, value.const))


def _load(reader: Reader, found: Intrinsic, call: Cursor, arguments: list[Cursor]) -> Expr:
    type_ = _vector(found)
    place = _address(reader, arguments[-1], type_)
    value = memory.scalar_value(reader, memory.load(reader, place, call), call)
    if not found.masked:
        return value
    lanes = mask(reader, _one(reader, arguments[0]), type_.lanes)
    if isinstance(value, Load) and value.type == type_:
        return replace(value, mask=lanes)
    if isinstance(value, Bitcast) and isinstance(value.a, Load) and _same_lanes(value.a.type, type_):
        return replace(value, a=replace(value.a, mask=lanes))
    raise reader.refuse("a masked load of a buffer of another type", call, "use the intrinsic of the buffer's type")


def _store(reader: Reader, found: Intrinsic, call: Cursor, arguments: list[Cursor]) -> Value:
    type_ = _vector(found)
    value = _fitted(reader, expressions.read_value(reader, arguments[-1]), type_, arguments[-1])
    lanes = mask(reader, _one(reader, arguments[1]), type_.lanes) if found.masked else None
    place = _address(reader, arguments[0], type_)
    before = len(reader.out)
    memory.store(reader, place, value, call)
    if lanes is not None:
        stored = reader.out[-1]
        if len(reader.out) != before + 1 or not isinstance(stored, Store) or not _same_lanes(stored.value.type, type_):
            raise reader.refuse("a masked store to a buffer of another type", call, "use the intrinsic of the buffer's type")
        reader.out[-1] = replace(stored, mask=lanes)
    return NoValue()


def _same_lanes(stored: Type, type_: Vec) -> bool:
    """Whether a buffer's elements are as wide as the lanes (``uint8_t`` under an ``epi8`` intrinsic), so that one mask fits both."""
    return isinstance(stored, Vec) and stored.lanes == type_.lanes and stored.dtype.bits == type_.dtype.bits


def _fitted(reader: Reader, value: Value, type_: avx512.Parameter, argument: Cursor) -> Expr:
    """An argument as the type the meaning works on."""
    expr = memory.scalar_value(reader, value, argument)
    if isinstance(type_, avx512.Pointer):
        raise reader.refuse("a pointer argument", argument)
    if isinstance(type_, Vec) and type_.dtype is DType.BOOL:
        return mask(reader, expr, type_.lanes)
    if isinstance(type_, Vec) and isinstance(expr.type, Vec):
        return expr if expr.type == type_ else bitcast(expr, type_)
    return convert(expr, type_)


def _adapted(reader: Reader, expr: Expr, type_: object, call: Cursor) -> Expr:
    """A result as the type that the call has in C."""
    if isinstance(type_, Vec) and type_.dtype is DType.BOOL:
        return mask(reader, expr, type_.lanes)
    if isinstance(type_, Vec) and isinstance(expr.type, Vec):
        return expr if expr.type == type_ else bitcast(expr, type_)
    if isinstance(type_, DType):
        return convert(expr, type_)
    raise reader.refuse("the result of this intrinsic", call)


def _vector_math(reader: Reader, call: Cursor, function: str, lanes: int, arguments: list[Cursor]) -> Expr | None:
    type_ = reader.ctype(call)
    if not isinstance(type_, Vec) or type_.lanes != lanes or not type_.dtype.is_float:
        return None
    name = function.removesuffix("f") if type_.dtype is DType.F32 and function not in MATH_FNS else function
    if name not in MATH_FNS or MATH_FNS[name] != len(arguments):
        return None
    return Math(name, tuple(_one(reader, a) for a in arguments), type_)


# ----------------------------------------------------------------------------------------------------------- masks


def mask(reader: Reader, expr: Expr, lanes: int) -> Expr:
    """A mask or an integer as a vector of that many bools; missing lanes are false."""
    type_ = expr.type
    if isinstance(type_, Vec):
        return _resized(expr, lanes)
    if isinstance(expr, Const):
        bits = int(expr.value)
        wanted = [bool(bits >> i & 1) for i in range(lanes)]
        if len(set(wanted)) == 1:
            return Broadcast(literal(wanted[0], DType.BOOL), lanes)
        return MakeVec(tuple(literal(b, DType.BOOL) for b in wanted))
    parts = _assembled(expr)
    if parts is not None:
        return MakeVec(tuple(parts.get(i, literal(False, DType.BOOL)) for i in range(lanes)))
    bits_ = reader.let("bits", expr)
    dtype = scalar(bits_.type)
    unsigned = convert(bits_, DType(f"u{dtype.bits}")) if dtype is not DType.BOOL else bits_

    def one(i: int) -> Expr:
        if i >= dtype.bits:
            return literal(False, DType.BOOL)
        return convert(
            binary("and", binary("shr", unsigned, literal(i, scalar(unsigned.type))), literal(1, scalar(unsigned.type))), DType.BOOL
        )

    return MakeVec(tuple(one(i) for i in range(lanes)))


def _assembled(expr: Expr) -> dict[int, Expr] | None:
    """The bools that an integer is put together from, by bit: ``a << 0 | b << 1``; None for other integers."""
    match expr:
        case Cast(a, DType()) if isinstance(a.type, DType) and a.type.is_int:
            return _assembled(a)
        case Cast(a, DType()) if a.type is DType.BOOL:
            return {0: a}
        case Const(value, dtype) if not dtype.is_float:
            return {i: literal(True, DType.BOOL) for i in range(dtype.bits) if int(value) >> i & 1}
        case Binary("shl", a, Const(count, _)):
            inner = _assembled(a)
            return None if inner is None or len(inner) > 1 else {i + int(count): e for i, e in inner.items()}
        case Binary("or", a, b):
            x, y = _assembled(a), _assembled(b)
            return None if x is None or y is None or x.keys() & y.keys() else x | y
    return None


def _resized(expr: Expr, lanes: int) -> Expr:
    own = expr.type.lanes if isinstance(expr.type, Vec) else 1
    if own == lanes:
        return expr
    if isinstance(expr, Broadcast) and (own > lanes or expr.a == literal(False, DType.BOOL)):
        return Broadcast(expr.a, lanes)
    elements = [lane(expr, i) if i < own else literal(False, DType.BOOL) for i in range(lanes)]
    sources = {e.a for e in elements if isinstance(e, Lane)}
    only = sources.pop() if len(sources) == 1 else None
    whole = only is not None and isinstance(only.type, Vec) and only.type.lanes == lanes
    if only is not None and whole and all(lane(only, i) == e for i, e in enumerate(elements)):
        return only
    return MakeVec(tuple(elements))


def integer(expr: Expr, dtype: DType) -> Expr:
    """A mask as an integer: bit ``i`` is lane ``i``."""
    count = expr.type.lanes if isinstance(expr.type, Vec) else 1
    total: Expr = literal(0, dtype)
    for i in range(count):
        bit = binary("shl", convert(lane(expr, i), dtype), literal(i, dtype))
        total = bit if i == 0 else binary("or", total, bit)
    return total


def _mask_member(reader: Reader, call: Cursor, name: str) -> Value | None:
    type_ = reader.ctype(call)
    member = clang.children(call)[0]
    base = clang.operands(clang.strip(member))
    if not base:
        return None
    value = memory.scalar_value(reader, memory.load(reader, lvalues.read_place(reader, base[0]), call), call)
    if not isinstance(type_, DType):
        return None
    return integer(reader.let("mask", value), type_)


def _mask_operator(reader: Reader, name: str, arguments: list[Cursor]) -> Value | None:
    types = [reader.ctype(a) for a in arguments]
    kinds: list[Type] = [t for t in types if isinstance(t, Vec) and t.dtype is DType.BOOL]
    if not kinds:
        return None
    lanes = kinds[0].lanes if isinstance(kinds[0], Vec) else 1
    values = [_one(reader, a) for a in arguments]
    if name == "operator~":
        return Unary("lnot", values[0])
    if name in _MASK_OPERATORS:
        a, b = mask(reader, values[0], lanes), mask(reader, values[1], lanes)
        every = Broadcast(literal(True, DType.BOOL), lanes)
        return a if name == "operator&" and b == every else Binary(_MASK_OPERATORS[name], a, b)
    return _mask_comparison(reader, values, lanes, equal=name == "operator==")


def _mask_comparison(reader: Reader, values: list[Expr], lanes: int, *, equal: bool) -> Expr:
    a, b = mask(reader, values[0], lanes), mask(reader, values[1], lanes)
    if isinstance(b, Broadcast) and isinstance(b.a, Const):
        every = Reduce("and", a) if b.a.value else Unary("lnot", Reduce("or", a))
        return every if equal else Unary("lnot", every)
    same = Unary("lnot", Reduce("or", Binary("xor", a, b)))
    return same if equal else Unary("lnot", same)
