"""AVX-512 intrinsics: signature, and meaning as an IR expression over the arguments.

One table serves three readers: code generation looks a name up by operation and type, the C frontend inlines the meaning of a call, and the
stand-ins for CPUs without AVX-512 are printed from the meaning. Source: Intel Intrinsics Guide (version 3.6), sections named by the
intrinsic; 128 and 256 bits need AVX512VL, 8 and 16 bit elements AVX512BW, ``mullo_epi64`` and floating-point logic AVX512DQ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import Binary, Bitcast, Broadcast, Cast, Const, Expr, Math, Reduce, Select

PREFIX = {128: "_mm", 256: "_mm256", 512: "_mm512"}
SUFFIX = {DType.F32: "ps", DType.F64: "pd", DType.I32: "epi32", DType.I64: "epi64", DType.I16: "epi16", DType.I8: "epi8"}
UNSIGNED = {DType.U32: "epu32", DType.U64: "epu64", DType.U16: "epu16", DType.U8: "epu8"}
FLOATS = (DType.F32, DType.F64)
SIGNED_OF = {DType.U8: DType.I8, DType.U16: DType.I16, DType.U32: DType.I32, DType.U64: DType.I64}
COMPARE_FLOAT = {"lt": "_CMP_LT_OQ", "le": "_CMP_LE_OQ", "gt": "_CMP_GT_OQ", "ge": "_CMP_GE_OQ", "eq": "_CMP_EQ_OQ", "ne": "_CMP_NEQ_UQ"}
COMPARE_INT = {
    "lt": "_MM_CMPINT_LT",
    "le": "_MM_CMPINT_LE",
    "gt": "_MM_CMPINT_NLE",
    "ge": "_MM_CMPINT_NLT",
    "eq": "_MM_CMPINT_EQ",
    "ne": "_MM_CMPINT_NE",
}
# Immediates of roundscale (imm8 bits 1:0 rounding mode, bit 3 suppresses the inexact exception).
ROUNDING = {"rint": 0x08, "floor": 0x09, "ceil": 0x0A, "trunc": 0x0B}


@dataclass(frozen=True, slots=True)
class Pointer:
    """A parameter that points to elements of ``dtype`` (``dtype`` None: ``void const *``)."""

    dtype: DType | None


Parameter = Type | Pointer
Meaning = Callable[..., Expr]


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """``kind`` is ``value`` (``meaning`` maps argument expressions to the result), ``load`` or ``store``; masked memory forms have
    ``masked`` set, their mask is the first argument of a load (``maskz``) and the second of a store. ``immediate`` is the constant last
    argument that selects this meaning."""

    name: str
    params: tuple[Parameter, ...]
    result: Type | None
    kind: str = "value"
    meaning: Meaning | None = None
    masked: bool = False
    immediate: str | None = None


def vector_bits(type_: Vec) -> int:
    """Register width of a vector of non-bool elements."""
    return type_.dtype.bits * type_.lanes


def is_register(type_: Type) -> bool:
    """Whether a vector fills a 128, 256 or 512 bit register, or is a mask of one."""
    if not isinstance(type_, Vec):
        return False
    if type_.dtype is DType.BOOL:
        return type_.lanes in (2, 4, 8, 16, 32, 64)
    return vector_bits(type_) in PREFIX and (type_.dtype in SUFFIX or type_.dtype in UNSIGNED)


def mask_of(type_: Vec) -> Vec:
    return Vec(DType.BOOL, type_.lanes)


@cache
def by_operation() -> dict[tuple[str, Type], Intrinsic]:
    """Intrinsics by operation name (``add``, ``lt``, ``load``, ``cast:f32`` = from f32, ...) and operand or result vector type."""
    return dict(_all())


@cache
def by_name() -> dict[str, tuple[Intrinsic, ...]]:
    """Intrinsics by name; several when an immediate distinguishes them."""
    found: dict[str, list[Intrinsic]] = {}
    for _, intrinsic in _all():
        known = found.setdefault(intrinsic.name, [])
        if all(other.immediate != intrinsic.immediate for other in known):
            known.append(intrinsic)
    return {name: tuple(entries) for name, entries in found.items()}


def _all() -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    for bits in PREFIX:
        for dtype in (*SUFFIX, *UNSIGNED):
            yield from _for_type(Vec(dtype, bits // dtype.bits), bits)
    yield from _conversions()
    yield from _bitcasts()
    yield from _mask_moves()
    from synth.intrinsics.avx512_compound import compound  # built from what this module defines

    yield from compound()


def _for_type(v: Vec, bits: int) -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    dtype = v.dtype
    p, signed = PREFIX[bits], SIGNED_OF.get(dtype, dtype)
    s = SUFFIX[signed]
    yield from _memory(v, bits, p, s)
    yield ("broadcast", v), Intrinsic(f"{p}_set1_{set_suffix(s, bits)}", (dtype,), v, meaning=lambda a, n=v.lanes: Broadcast(a, n))
    yield from _compares(v, p)
    yield ("blend", v), Intrinsic(f"{p}_mask_blend_{s}", (mask_of(v), v, v), v, meaning=lambda m, b, a: Select(m, a, b))
    for op, name in _arithmetic(v, p):
        yield (op, v), Intrinsic(name, (v, v), v, meaning=lambda a, b, o=op: Binary(o, a, b))
    if dtype in FLOATS:
        yield from _float_math(v, p, s)
    for op in ("add", "mul", "min", "max"):
        unsigned_name = UNSIGNED.get(dtype, s) if op in ("min", "max") else s
        if bits == 512 and dtype.bits >= 32:
            yield (f"reduce_{op}", v), Intrinsic(f"{p}_reduce_{op}_{unsigned_name}", (v,), dtype, meaning=lambda a, o=op: Reduce(o, a))


def set_suffix(s: str, bits: int) -> str:
    """``_mm_set1_epi64`` and ``_mm256_set1_epi64`` are spelled with an x; Intel's naming."""
    return "epi64x" if s == "epi64" and bits < 512 else s


def _memory(v: Vec, bits: int, p: str, s: str) -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    is_float = v.dtype in FLOATS
    plain = s if is_float or bits < 512 else "si512"
    pointer = Pointer(v.dtype)
    yield ("load", v), Intrinsic(f"{p}_loadu_{plain}", (pointer,), v, "load")
    yield ("store", v), Intrinsic(f"{p}_storeu_{plain}", (pointer, v), None, "store")
    yield ("maskload", v), Intrinsic(f"{p}_maskz_loadu_{s}", (mask_of(v), pointer), v, "load", masked=True)
    yield ("maskstore", v), Intrinsic(f"{p}_mask_storeu_{s}", (pointer, mask_of(v), v), None, "store", masked=True)


def _compares(v: Vec, p: str) -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    suffix = UNSIGNED.get(v.dtype) or SUFFIX[v.dtype]
    codes = COMPARE_FLOAT if v.dtype in FLOATS else COMPARE_INT
    for op, code in codes.items():
        yield (
            (op, v),
            Intrinsic(f"{p}_cmp_{suffix}_mask", (v, v), mask_of(v), meaning=lambda a, b, o=op: Binary(o, a, b), immediate=code),
        )


def _arithmetic(v: Vec, p: str) -> Iterator[tuple[str, str]]:
    dtype, bits = v.dtype, vector_bits(v)
    signed = SUFFIX[SIGNED_OF.get(dtype, dtype)]
    if dtype in FLOATS:
        for op in ("add", "sub", "mul", "div"):
            yield op, f"{p}_{op}_{signed}"
        return
    for op in ("add", "sub"):
        yield op, f"{p}_{op}_{signed}"
    if dtype.bits >= 16:
        yield "mul", f"{p}_mullo_{signed}"
        yield "shl", f"{p}_sllv_{signed}"
        yield "shr", f"{p}_{'srav' if dtype.is_signed_int else 'srlv'}_{signed}"
    for op in ("min", "max"):
        yield op, f"{p}_{op}_{UNSIGNED.get(dtype, signed)}"
    for op in ("and", "or", "xor"):
        yield op, f"{p}_{op}_si{bits}"


def _float_math(v: Vec, p: str, s: str) -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    yield ("sqrt", v), Intrinsic(f"{p}_sqrt_{s}", (v,), v, meaning=lambda a, t=v: Math("sqrt", (a,), t))
    yield ("fma", v), Intrinsic(f"{p}_fmadd_{s}", (v, v, v), v, meaning=lambda a, b, c, t=v: Math("fma", (a, b, c), t))
    if vector_bits(v) == 512:
        yield ("abs", v), Intrinsic(f"{p}_abs_{s}", (v,), v, meaning=lambda a, t=v: Math("abs", (a,), t))
    for op, compare, select in (("min", "lt", "4"), ("max", "gt", "5")):
        # vminps is a < b ? a : b, so it returns the second operand when either is NaN; fmin and fmax are vrangeps with the operation in
        # bits 1:0 (00 min, 01 max) and the sign of the result in bits 3:2 (01: as compared).
        yield (f"select_{compare}", v), Intrinsic(f"{p}_{op}_{s}", (v, v), v, meaning=_extremum(compare))
        yield (op, v), Intrinsic(f"{p}_range_{s}", (v, v), v, meaning=lambda a, b, o=op: Binary(o, a, b), immediate=select)
    for fn, code in ROUNDING.items():
        yield (
            (fn, v),
            Intrinsic(f"{p}_roundscale_{s}", (v,), v, meaning=lambda a, f=fn, t=v: Math(f, (a,), t), immediate=str(code)),
        )


def _extremum(compare: str) -> Meaning:
    return lambda a, b: Select(Binary(compare, a, b), a, b)


def _conversions() -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    names = {
        (DType.I32, DType.F32): "cvtepi32_ps", (DType.F32, DType.I32): "cvttps_epi32", (DType.U32, DType.F32): "cvtepu32_ps",
        (DType.F32, DType.U32): "cvttps_epu32", (DType.F32, DType.F64): "cvtps_pd", (DType.F64, DType.F32): "cvtpd_ps",
        (DType.I32, DType.F64): "cvtepi32_pd", (DType.F64, DType.I32): "cvttpd_epi32", (DType.I64, DType.F64): "cvtepi64_pd",
        (DType.F64, DType.I64): "cvttpd_epi64", (DType.I64, DType.I32): "cvtepi64_epi32", (DType.I32, DType.I16): "cvtepi32_epi16",
        (DType.I32, DType.I8): "cvtepi32_epi8", (DType.I16, DType.I8): "cvtepi16_epi8",
    }  # fmt: skip
    for small, large in ((8, 16), (8, 32), (8, 64), (16, 32), (16, 64), (32, 64)):
        for sign in "iu":
            source, target = DType(f"{sign}{small}"), DType(f"i{large}")
            names[source, target] = f"cvtep{sign}{small}_epi{large}"
    for (source, target), name in names.items():
        for bits, p in PREFIX.items():
            lanes = bits // max(source.bits, target.bits)
            a, b = Vec(source, lanes), Vec(target, lanes)
            if vector_bits(a) in PREFIX and vector_bits(b) in PREFIX:
                yield (f"cast:{source}", b), Intrinsic(f"{p}_{name}", (a,), b, meaning=lambda x, t=b: Cast(x, t))


def _bitcasts() -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    for bits, p in PREFIX.items():
        ps, pd = Vec(DType.F32, bits // 32), Vec(DType.F64, bits // 64)
        integer = Vec(DType.I32, bits // 32)
        longs = Vec(DType.I64, bits // 64)
        for a, b, name in (
            (ps, integer, f"castps_si{bits}"),
            (integer, ps, f"castsi{bits}_ps"),
            (pd, longs, f"castpd_si{bits}"),
            (longs, pd, f"castsi{bits}_pd"),
        ):
            yield (f"bitcast:{a.dtype}", b), Intrinsic(f"{p}_{name}", (a,), b, meaning=lambda x, t=b: Bitcast(x, t))


def _mask_moves() -> Iterator[tuple[tuple[str, Type], Intrinsic]]:
    for bits, p in PREFIX.items():
        for dtype in (DType.I32, DType.I64):
            v = Vec(dtype, bits // dtype.bits)
            yield (
                ("cast:bool", v),
                Intrinsic(f"{p}_maskz_set1_{SUFFIX[dtype]}", (mask_of(v), dtype), v, meaning=_masked_set1(v)),
            )


def _masked_set1(v: Vec) -> Meaning:
    zero = Const(0, v.dtype)
    return lambda m, a: Select(m, Broadcast(a, v.lanes), Broadcast(zero, v.lanes))
