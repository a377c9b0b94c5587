import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.ir import mathematics, values
from synth.ir.dtypes import DType, Vec
from synth.ir.rounding import round_float, wrap_int

finite = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(finite)
def test_singles_and_halves_round_as_numpy_does(x):
    with np.errstate(over="ignore"):
        assert round_float(x, DType.F32) == float(np.float32(x))
        assert round_float(x, DType.F16) == float(np.float16(x))


@given(singles)
def test_bfloat_rounds_to_nearest_even(x):
    """The usual bit trick on the single's bits: add 0x7fff plus the last kept bit, drop 16 bits."""
    bits = int(np.float32(x).view(np.uint32))
    expected = np.uint32((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16 & 0xFFFFFFFF).view(np.float32)
    assert round_float(x, DType.BF16) == float(expected)


@given(singles, singles, singles)
@settings(max_examples=300)
def test_single_fma_rounds_once(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    got = mathematics.function("fma", DType.F32)(a, b, c)
    if math.isfinite(got):
        below, above = np.nextafter(np.float32(got), np.float32(-np.inf)), np.nextafter(np.float32(got), np.float32(np.inf))
        for other in (below, above):
            if math.isfinite(other):
                assert abs(Fraction(got) - exact) <= abs(Fraction(float(other)) - exact)


@given(st.integers(-(2**70), 2**70))
def test_wrapping_is_modular(x):
    for dtype in (DType.I8, DType.U16, DType.I32, DType.U64):
        wrapped = wrap_int(x, dtype)
        assert dtype.min_int <= wrapped <= dtype.max_int
        assert (wrapped - x) % (1 << dtype.bits) == 0


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_convert_to_singles_with_one_rounding(x):
    assert values.conversion(DType.I64, DType.F32)(x) == float(np.int64(x).astype(np.float32))


def test_bits_move_between_types():
    assert values.reinterpret(1.0, DType.F32, DType.I32) == 0x3F800000
    assert values.reinterpret((1, 0), Vec(DType.I32, 2), DType.I64) == 1
    assert values.reinterpret(0x3F80, DType.U16, DType.BF16) == 1.0
    assert values.reinterpret((1.0, -2.0), Vec(DType.F16, 2), DType.U32) == 0xC0003C00
