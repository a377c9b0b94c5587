"""Half precision: every operation rounds once to its type; numpy's float16 and a bfloat16 by bits are the reference."""

from __future__ import annotations

import numpy as np
import pytest

from synth.analysis.extents import complete_params
from synth.frontend import read
from synth.ir import interpreter, verifier
from synth.ir.grammar import Module
from synth.source import LaunchShape, ReadOptions, Source

X = np.array([0.1, -2.5, 3.14159, 1000.5, -0.0, 7.0, 0.333, 60000.0], np.float16)
Y = np.array([1.7, 0.25, -3.3, 3.0, 2.0, -7.0, 1e-4, 2.0], np.float16)


def module_of(body: str, type_: str, dialect: str = "cuda") -> Module:
    header = {"cuda": "#include <cuda_fp16.h>\n#include <cuda_bf16.h>", "hip": "#include <hip/hip_fp16.h>\n#include <hip/hip_bf16.h>"}[
        dialect
    ]
    text = f"""{header}
    __global__ void k(const {type_}* x, const {type_}* y, {type_}* z, float* w) {{ int i = threadIdx.x; {body} }}"""
    options = ReadOptions(launch=LaunchShape((1, 1, 1), (8, 1, 1)), extents=dict.fromkeys("xyzw", "16"))
    module = complete_params(read(Source(text, dialect, "k.cu"), options).module)
    verifier.check(module)
    return module


def run(body: str, type_: str = "half", dialect: str = "cuda") -> tuple[np.ndarray, np.ndarray]:
    is_half = type_ in ("half", "__half")

    def stored(values: np.ndarray) -> np.ndarray:
        padded = np.concatenate([values, values])
        return padded if is_half else bits(padded.astype(np.float32))

    z, w = np.zeros(16, np.float16 if is_half else np.uint16), np.zeros(16, np.float32)
    interpreter.run(module_of(body, type_, dialect), {"x": stored(X), "y": stored(Y), "z": z, "w": w})
    return (z if is_half else floats(z))[:8], w[:8]


def bits(values: np.ndarray) -> np.ndarray:
    """bfloat16 as bits: float32 rounded to nearest even on the upper half."""
    word = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((word + 0x7FFF + (word >> 16 & 1)) >> 16).astype(np.uint16)


def floats(raw: np.ndarray) -> np.ndarray:
    return (raw.astype(np.uint32) << 16).view(np.float32)


XB, YB = floats(bits(X)), floats(bits(Y))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x[i] + y[i]", X + Y),
        ("__hadd(x[i], y[i])", X + Y),
        ("__hsub(x[i], y[i])", X - Y),
        ("x[i] * y[i]", X * Y),
        ("__hdiv(x[i], y[i])", X / Y),
        ("-x[i]", -X),
        ("__habs(x[i])", np.abs(X)),
        ("__hmax(x[i], y[i])", np.maximum(X, Y)),
        ("__hmin(x[i], y[i])", np.minimum(X, Y)),
        ("__hadd_sat(x[i], y[i])", np.clip(X + Y, 0, 1)),
        ("__float2half(__half2float(x[i]) * 3.0f)", (X.astype(np.float32) * 3).astype(np.float16)),
        ("__float2half_rn(0.1f)", np.full(8, np.float16(0.1))),
        ("half(i * 3)", np.arange(0, 24, 3).astype(np.float16)),
        ("__hgt(x[i], y[i]) ? x[i] : y[i]", np.where(X > Y, X, Y)),
        ("x[i] == y[i] ? half(1) : half(2)", np.where(X == Y, 1, 2).astype(np.float16)),
        ("hsqrt(__habs(x[i]))", np.sqrt(np.abs(X).astype(np.float32)).astype(np.float16)),
        ("__ushort_as_half(__half_as_ushort(x[i]))", X),
        ("__int2half_rn(__half2int_rz(y[i]))", np.trunc(Y)),
    ],
)
def test_single_halves(expression: str, expected: np.ndarray) -> None:
    with np.errstate(over="ignore"):
        got, _ = run(f"z[i] = {expression};")
    np.testing.assert_array_equal(got, expected.astype(np.float16))


@pytest.mark.parametrize("dialect", ["cuda", "hip"])
def test_pairs_through_views_lanes_and_compound_assignments(dialect: str) -> None:
    body = """if (i < 4) {
        half2 p = reinterpret_cast<const half2*>(x)[i], q = ((const half2*)y)[i], r;
        r.x = p.x; r.y = __low2half(q);
        r = __hadd2(r, __halves2half2(q.y, p.y));
        r += p; r *= __float2half2_rn(0.5f);
        reinterpret_cast<half2*>(z)[i] = r;
        float2 f = __half22float2(q);
        w[2 * i] = f.x + __high2float(p); w[2 * i + 1] = (float)q.y;
    }"""
    z, w = run(body, dialect=dialect)
    x, y = X.reshape(4, 2), Y.reshape(4, 2)
    with np.errstate(over="ignore"):
        low = ((x[:, 0] + y[:, 1]) + x[:, 0]) * np.float16(0.5)
        high = ((y[:, 0] + x[:, 1]) + x[:, 1]) * np.float16(0.5)
    np.testing.assert_array_equal(z, np.stack([low, high], 1).ravel())
    np.testing.assert_array_equal(w, np.stack([y[:, 0].astype(np.float32) + x[:, 1], y[:, 1].astype(np.float32)], 1).ravel())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x[i] + y[i]", XB + YB),
        ("__hmul(x[i], y[i])", XB * YB),
        ("__float2bfloat16(__bfloat162float(x[i]) / 3.0f)", XB / np.float32(3)),
        ("(__nv_bfloat16)((float)x[i] * 1.5f)", XB * np.float32(1.5)),
        ("x[i] < y[i] ? y[i] : x[i]", np.maximum(XB, YB)),
    ],
)
def test_single_bfloat16(expression: str, expected: np.ndarray) -> None:
    got, _ = run(f"z[i] = {expression};", "__nv_bfloat16")
    np.testing.assert_array_equal(got, floats(bits(expected)))


def test_a_shuffle_moves_a_pair_as_one_word() -> None:
    z, _ = run("half2 p = __halves2half2(x[i], y[i]); p = __shfl_xor_sync(0xff, p, 1); z[i] = p.x;")
    np.testing.assert_array_equal(z, X.reshape(4, 2)[:, ::-1].ravel())
