"""AVX-512 intrinsics that stand for several operations: masked arithmetic, negated products, shifts by one count, byte dot products.

They are read from C as their meaning; code generation prints the parts. Source: Intel Intrinsics Guide (version 3.6), by name.
"""

from __future__ import annotations

from collections.abc import Iterator

from synth.intrinsics.avx512 import FLOATS, PREFIX, SUFFIX, Intrinsic, Meaning, mask_of
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import Binary, Broadcast, Cast, Const, Expr, Math, Select, Unary

Found = tuple[tuple[str, Type], Intrinsic]

# Whether the product and whether the third operand is negated.
_FUSED = {"fmadd": (False, False), "fmsub": (False, True), "fnmadd": (True, False), "fnmsub": (True, True)}


def compound() -> Iterator[Found]:
    """The entries, by an operation of their own each."""
    for bits, p in PREFIX.items():
        for dtype in (*FLOATS, DType.I32, DType.I64):
            yield from _masked(Vec(dtype, bits // dtype.bits), p)
        for dtype in FLOATS:
            yield from _fused(Vec(dtype, bits // dtype.bits), p)
        for dtype in (DType.I32, DType.I64):
            yield from _shifts(dtype, bits, p)
        yield from _rounded(bits, p)
        yield _dot_of_bytes(bits, p)


def _masked(v: Vec, p: str) -> Iterator[Found]:
    """Lanes that are off take the first operand (``mask``) or zero (``maskz``)."""
    s, m = SUFFIX[v.dtype], mask_of(v)
    for op in ("add", "sub", "mul", "div") if v.dtype in FLOATS else ("add", "sub"):
        yield from _both_masked(f"{p}_{{}}_{op}_{s}", op, v, m, lambda a, b, o=op: Binary(o, a, b))
    for op, compare in (("max", "gt"), ("min", "lt")):
        # vmaxps returns the second operand unless a > b holds, also with a NaN; the integer forms are plain extrema.
        yield from _both_masked(f"{p}_{{}}_{op}_{s}", op, v, m, lambda a, b, c=compare: Select(Binary(c, a, b), a, b))


def _both_masked(name: str, op: str, v: Vec, m: Vec, value: Meaning) -> Iterator[Found]:
    zero = _zero(v)
    merged = Intrinsic(name.format("mask"), (v, m, v, v), v, meaning=lambda src, k, a, b: Select(k, value(a, b), src))
    zeroed = Intrinsic(name.format("maskz"), (m, v, v), v, meaning=lambda k, a, b: Select(k, value(a, b), zero))
    yield (f"mask_{op}", v), merged
    yield (f"maskz_{op}", v), zeroed


def _fused(v: Vec, p: str) -> Iterator[Found]:
    s, m, zero = SUFFIX[v.dtype], mask_of(v), _zero(v)
    for name, (product, addend) in _FUSED.items():

        def value(a: Expr, b: Expr, c: Expr, negated: tuple[bool, bool] = (product, addend)) -> Expr:
            return Math("fma", (Unary("neg", a) if negated[0] else a, b, Unary("neg", c) if negated[1] else c), v)

        if name != "fmadd":
            yield (name, v), Intrinsic(f"{p}_{name}_{s}", (v, v, v), v, meaning=value)
        masked: Meaning = lambda a, k, b, c, f=value: Select(k, f(a, b, c), a)  # noqa: E731
        zeroed: Meaning = lambda k, a, b, c, f=value: Select(k, f(a, b, c), zero)  # noqa: E731
        yield (f"mask_{name}", v), Intrinsic(f"{p}_mask_{name}_{s}", (v, m, v, v), v, meaning=masked)
        yield (f"maskz_{name}", v), Intrinsic(f"{p}_maskz_{name}_{s}", (m, v, v, v), v, meaning=zeroed)


def _shifts(dtype: DType, bits: int, p: str) -> Iterator[Found]:
    """All lanes by one unsigned count; a count of the width or more shifts everything out."""
    unsigned = DType.U32 if dtype is DType.I32 else DType.U64
    for name, op, lane in (("slli", "shl", dtype), ("srli", "shr", unsigned), ("srai", "shr", dtype)):
        v = Vec(lane, bits // lane.bits)

        def value(a: Expr, count: Expr, op: str = op, v: Vec = v) -> Expr:
            return Binary(op, a, Broadcast(Cast(count, v.dtype), v.lanes))

        yield (name, v), Intrinsic(f"{p}_{name}_{SUFFIX[dtype]}", (v, DType.U32), v, meaning=value)


def _rounded(bits: int, p: str) -> Iterator[Found]:
    """Conversion in the current rounding mode, which is to the nearest, ties to even."""
    a, b = Vec(DType.F32, bits // 32), Vec(DType.I32, bits // 32)
    yield ("round:f32", b), Intrinsic(f"{p}_cvtps_epi32", (a,), b, meaning=lambda x: Cast(Math("rint", (x,), a), b))


def _dot_of_bytes(bits: int, p: str) -> Found:
    """``src + sum of a.byte[k] * b.byte[k]`` over the four bytes of each 32-bit lane, those of ``a`` unsigned and those of ``b`` signed.
    The products and their sum fit 32 bits; adding ``src`` wraps."""
    v = Vec(DType.I32, bits // 32)

    def literal(value: int) -> Expr:
        return Broadcast(Const(value, DType.I32), v.lanes)

    def value(src: Expr, a: Expr, b: Expr) -> Expr:
        total = src
        for k in range(4):
            left = Binary("and", a if k == 0 else Binary("shr", a, literal(8 * k)), literal(0xFF))
            right = Binary("shr", b if k == 3 else Binary("shl", b, literal(24 - 8 * k)), literal(24))
            total = Binary("add", total, Binary("mul", left, right))
        return total

    return ("dpbusd", v), Intrinsic(f"{p}_dpbusd_epi32", (v, v, v), v, meaning=value)


def _zero(v: Vec) -> Expr:
    return Broadcast(Const(0.0 if v.dtype.is_float else 0, v.dtype), v.lanes)
