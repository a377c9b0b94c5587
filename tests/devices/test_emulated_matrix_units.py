"""wmma and MFMA in the emulators, with values computed by hand or by numpy. Lane maps: AMD MI200 ISA Reference Guide, V_MFMA_*."""

from __future__ import annotations

import numpy as np
import pytest

from devices.device import Run
from devices.registry import find_device
from devices.status import Status
from tests.devices.programs import gpu, run


def done(dialect: str, kernel: str, block: int) -> Run:
    text = gpu(dialect, ("#include <mma.h>\nusing namespace nvcuda;\n" if dialect == "cuda" else "") + kernel, 1, block)
    return run(find_device(dialect, prefer="emulated"), text, dialect)[0]


FRAGMENTS = """
__global__ void k(const float* x, float* y) {
    __shared__ signed char A[256], B[256]; __shared__ int C[256];
    for (int t = threadIdx.x; t < 256; t += 32) { A[t] = t % 7 - 3; B[t] = t % 5 - 2; }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::LAYOUT> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(c, 1);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(c, a, b, c);
    for (int e = 0; e < c.num_elements; ++e) c.x[e] *= 2;
    wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
    __syncthreads();
    y[threadIdx.x] = C[threadIdx.x]; y[threadIdx.x + 32] = C[threadIdx.x + 224];
}"""


@pytest.mark.parametrize("layout", ["row_major", "col_major"])
def test_integer_fragments_are_exact(layout: str) -> None:
    found = done("cuda", FRAGMENTS.replace("LAYOUT", layout), 32)
    assert found.status is Status.OK, found.log
    a, b = (np.arange(256) % 7 - 3).reshape(16, 16), (np.arange(256) % 5 - 2).reshape(16, 16)
    c = (2 * ((a if layout == "row_major" else a.T) @ b + 1)).reshape(-1)
    assert np.array_equal(found.outputs["y"], np.concatenate([c[:32], c[224:]]).astype(np.float32))


def test_which_lane_holds_which_element_is_not_to_be_relied_on() -> None:
    kernel = FRAGMENTS.replace("LAYOUT", "row_major").replace("c.x[e] *= 2", "c.x[e] = e * 32 + threadIdx.x")
    found = done("cuda", kernel, 32)
    assert found.status is Status.OK and not np.array_equal(found.outputs["y"][:32], np.arange(32))


def test_a_fragment_needs_its_whole_warp() -> None:
    assert done("cuda", FRAGMENTS.replace("LAYOUT", "row_major"), 16).status is not Status.OK


def test_a_leading_dimension_that_the_machine_cannot_load() -> None:
    found = done("cuda", FRAGMENTS.replace("LAYOUT", "row_major").replace("load_matrix_sync(a, A, 16)", "load_matrix_sync(a, A, 12)"), 32)
    assert found.status is Status.UNSUPPORTED and "no multiple of 16 bytes" in found.log


def test_no_such_multiplication() -> None:
    kernel = FRAGMENTS.replace("LAYOUT", "row_major").replace("16, 16, 16", "16, 16, 8")
    assert done("cuda", kernel, 32).status is Status.COMPILE_ERROR


# Lane 16 * k + i has element (i, k) of A and (k, i) of B; register r of lane 16 * g + j has element (4 * g + r, j) of D.
FLOATS = """typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    int lane = threadIdx.x;
    floatx4 d = {1, 1, 1, 1};
    d = __builtin_amdgcn_mfma_f32_16x16x4f32(lane, lane % 16 == 2 ? lane / 16 + 1.0f : 0.0f, d, 0, 0, MODE);
    y[lane] = 0;
    if (lane % 16 == 2) for (int r = 0; r < 4; ++r) y[lane / 16 * 4 + r] = d[r];
    if (lane % 16 == 3) y[16 + lane / 16] = d[3];
}"""


def test_the_lane_map_of_a_product_of_floats() -> None:
    """D[i][2] = 1 + sum over k of (16 k + i) (k + 1) = 1 + 16 (0 + 2 + 6 + 12) + 10 i; other columns keep what was there."""
    found = done("hip", FLOATS.replace("MODE", "0").replace("y[lane] = 0;", "y[lane] = 0; __syncthreads();"), 64)
    assert found.status is Status.OK, found.log
    assert np.array_equal(found.outputs["y"][:20], [*(321 + 10 * i for i in range(16)), 1, 1, 1, 1])


def test_modes_and_partial_wavefronts_are_refused() -> None:
    found = done("hip", FLOATS.replace("MODE", "1"), 64)
    assert found.status is Status.UNSUPPORTED and "broadcast or negation" in found.log
    assert done("hip", FLOATS.replace("MODE", "0"), 32).status is Status.UNSUPPORTED


def test_the_lane_map_of_a_product_of_bytes() -> None:
    """Byte b of lane 16 * g + i is element (i, 4 g + b): A is 1 where i is 5, so that row 5 of D sums the columns of B: byte b is b + g."""
    kernel = """typedef int intx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    int lane = threadIdx.x, g = lane / 16, b = 0;
    for (int i = 0; i < 4; ++i) b |= ((i + g - 3) & 255) << 8 * i;
    intx4 d = {0, 0, 0, 0};
    d = __builtin_amdgcn_mfma_i32_16x16x16i8(lane % 16 == 5 ? 0x01010101 : 0, b, d, 0, 0, 0);
    y[lane] = g == 1 ? d[1] : d[0];
}"""
    found = done("hip", kernel, 64)
    assert found.status is Status.OK, found.log
    total = sum(i + g - 3 for i in range(4) for g in range(4))
    assert np.array_equal(found.outputs["y"], [0] * 16 + [total] * 16 + [0] * 32)


def test_the_lane_map_of_the_large_product() -> None:
    """Of 32 x 32, register r of lane 32 * h + j has element (8 (r / 4) + 4 h + r % 4, j); lane 32 * k + i has element (i, k) of A."""
    kernel = """typedef float floatx16 __attribute__((ext_vector_type(16)));
__global__ void k(const float* x, float* y) {
    int lane = threadIdx.x;
    floatx16 d = {0};
    d = __builtin_amdgcn_mfma_f32_32x32x2f32(lane, lane == 0 ? 1.0f : lane == 32 ? 100.0f : 0.0f, d, 0, 0, 0);
    if (lane % 32 == 0) for (int r = 0; r < 16; ++r) y[lane / 32 * 16 + r] = d[r];
    else if (lane % 32 == 1) y[32 + lane / 32] = d[0];
}"""
    found = done("hip", kernel, 64)
    assert found.status is Status.OK, found.log
    rows = [8 * (r // 4) + 4 * h + r % 4 for h in range(2) for r in range(16)]
    assert np.array_equal(found.outputs["y"][:34], [*(i + 100 * (32 + i) for i in rows), 0, 0])
