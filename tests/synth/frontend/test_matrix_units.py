"""wmma of CUDA and MFMA of HIP (lane maps: AMD MI200 ISA Reference Guide, V_MFMA_*), read and run in the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from synth.errors import UnsupportedError, XpilerError
from synth.frontend import read
from synth.ir import interpreter, verifier
from synth.ir.grammar import Module
from synth.source import LaunchShape, ReadOptions, Source

BYTES = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const signed char *a, const signed char *b, int *o) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::A_MAJOR> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::B_MAJOR> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(c, 3);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(c, fa, fb, c);
    for (int e = 0; e < c.num_elements; ++e) c.x[e] = c.x[e] * 2;
    wmma::store_matrix_sync(o, c, 16, wmma::mem_C_MAJOR);
}"""


def module_of(text: str, dialect: str, block: int, extents: dict[str, str]) -> Module:
    name = "test.cu" if dialect == "cuda" else "test.hip"
    module = read(Source(text, dialect, name), ReadOptions(launch=LaunchShape((1, 1, 1), (block, 1, 1)), extents=extents)).module
    verifier.check(module)
    return module


@pytest.mark.parametrize(
    "majors", [("row_major", "row_major", "row_major"), ("col_major", "row_major", "row_major"), ("row_major", "col_major", "col_major")]
)
def test_integer_fragments(majors: tuple[str, str, str]) -> None:
    text = BYTES
    for place, major in zip(("A_MAJOR", "B_MAJOR", "C_MAJOR"), majors, strict=True):
        text = text.replace(place, major)
    module = module_of(text, "cuda", 32, {"a": "256", "b": "256", "o": "256"})
    random = np.random.default_rng(0)
    a, b = (random.integers(-128, 128, 256).astype(np.int8) for _ in range(2))
    out = np.zeros(256, np.int32)
    interpreter.run(module, {"a": a, "b": b, "o": out}, max_steps=8_000_000)
    left, right, result = (m.reshape(16, 16).T if w == "col_major" else m.reshape(16, 16) for m, w in zip((a, b, out), majors, strict=True))
    assert np.array_equal(result, 2 * (left.astype(np.int32) @ right.astype(np.int32) + 3))


def test_other_shapes_are_refused() -> None:
    text = (
        BYTES.replace("A_MAJOR", "row_major")
        .replace("B_MAJOR", "row_major")
        .replace("C_MAJOR", "row_major")
        .replace("16, 16, 16", "32, 8, 16")
    )
    with pytest.raises(XpilerError, match="mma_sync"):
        module_of(text, "cuda", 32, {"a": "512", "b": "128", "o": "256"})


@pytest.mark.parametrize(
    ("name", "n", "k", "registers", "packed"),
    [("f32_16x16x4f32", 16, 4, 4, 1), ("f32_32x32x2f32", 32, 2, 16, 1), ("i32_16x16x16i8", 16, 16, 4, 4)],
)
def test_lane_maps_of_mfma(name: str, n: int, k: int, registers: int, packed: int) -> None:
    """element (i, k) of A in lane i + n (k / packed), the rows of D in fours over 64 / n groups."""
    kind = "float" if name.startswith("f32") else "int"
    text = f"""#include <hip/hip_runtime.h>
typedef {kind} wide __attribute__((ext_vector_type({registers})));
__global__ void k(const {kind} *a, const {kind} *b, {kind} *o) {{
    wide d = {{0}};
    for (int r = 0; r < {registers}; ++r) d[r] = r;
    d = __builtin_amdgcn_mfma_{name}(a[threadIdx.x], b[threadIdx.x], d, 0, 0, 0);
    for (int r = 0; r < {registers}; ++r) o[r * 64 + threadIdx.x] = d[r];
}}"""
    module = module_of(text, "hip", 64, {"a": "64", "b": "64", "o": str(64 * registers)})
    random = np.random.default_rng(1)
    dtype = np.float32 if kind == "float" else np.int8
    left, right = (random.integers(-99, 99, (n, k)).astype(dtype), random.integers(-99, 99, (k, n)).astype(dtype))
    a, b = np.zeros((64, packed), dtype), np.zeros((64, packed), dtype)
    for i in range(n):
        for at in range(k):
            a[i + n * (at // packed), at % packed] = left[i, at]
            b[i + n * (at // packed), at % packed] = right[at, i]
    whole = np.float32 if kind == "float" else np.int32
    out = np.zeros(64 * registers, whole)
    interpreter.run(module, {"a": a.reshape(-1).view(whole), "b": b.reshape(-1).view(whole), "o": out}, max_steps=8_000_000)
    product = left.astype(whole) @ right.astype(whole)
    for lane in range(64):
        for r in range(registers):
            row = 8 * (r // 4) + 4 * (lane // 32) + r % 4 if n == 32 else 4 * (lane // 16) + r
            assert out[r * 64 + lane] == product[row, lane % n] + r


def test_modes_of_mfma_are_refused() -> None:
    text = """#include <hip/hip_runtime.h>
typedef float wide __attribute__((ext_vector_type(4)));
__global__ void k(const float *a, float *o) {
    wide d = {0, 0, 0, 0};
    d = __builtin_amdgcn_mfma_f32_16x16x4f32(a[threadIdx.x], 1.0f, d, 0, 0, 1);
    o[threadIdx.x] = d[0];
}"""
    with pytest.raises(UnsupportedError, match="cbsz, abid or blgp"):
        module_of(text, "hip", 64, {"a": "64", "o": "64"})
