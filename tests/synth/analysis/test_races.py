"""Races and barriers of the idioms of real kernels, each with what is wrong when something is missing."""

import pytest

from synth.analysis.races import RaceReport, check_races
from tests.synth.analysis.programs import cuda

KERNEL = """
__global__ void k(const float* A, float* C, int n) {{
    {body}
}}
extern "C" void entry(const float* A, float* C, int n) {{
    float *dA, *dC;
    cudaMalloc(&dA, n * sizeof(float));
    cudaMalloc(&dC, n * sizeof(float));
    cudaMemcpy(dA, A, n * sizeof(float), cudaMemcpyHostToDevice);
    k<<<(n + 255) / 256, {block}>>>(dA, dC, n);
    cudaMemcpy(C, dC, n * sizeof(float), cudaMemcpyDeviceToHost);
}}
"""
HEAD = "__shared__ float s[512]; int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; "
IN, OUT = HEAD + "s[t] = A[i]; __syncthreads(); ", " if (t == 0) C[blockIdx.x] = s[0];"


def report(body: str, block: str = "256") -> RaceReport:
    return check_races(cuda(KERNEL.format(body=body, block=block)))


def axes(found: RaceReport) -> set[str]:
    """``axis buffer`` of what is not proved."""
    words = [w.split() for w in found.unknown]
    return {f"{w[4]} {w[8].strip(chr(39))}" for w in words}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(IN + "for (int h = 128; h > 0; h >>= 1) { if (t < h) s[t] += s[t + h]; __syncthreads(); }" + OUT, id="halving"),
        pytest.param(
            IN + "for (int h = 1; h < 256; h *= 2) { if (t % (2 * h) == 0) s[t] += s[t + h]; __syncthreads(); }" + OUT, id="doubling"
        ),
        pytest.param(
            IN + "for (int h = 1; h < 256; h *= 2) { int x = 2 * h * t; if (x < 256) s[x] += s[x + h]; __syncthreads(); }" + OUT,
            id="doubling, dense threads",
        ),
        pytest.param(IN + "if (t < 128) s[t] += s[t + 128]; __syncthreads(); if (t < 64) s[t] += s[t + 64];", id="unrolled"),
        pytest.param(
            IN + "for (int h = 1; h < 256; h *= 2) { float v = t >= h ? s[t - h] : 0; __syncthreads(); s[t] += v; __syncthreads(); } "
            "C[i] = s[t];",
            id="scan",
        ),
        pytest.param(
            "__shared__ float s[2][256]; int t = threadIdx.x, p = 0; s[0][t] = A[t]; __syncthreads(); for (int k = 0; k < 8; k++) { "
            "s[1 - p][t] = s[p][255 - t]; p = 1 - p; __syncthreads(); } C[t + blockIdx.x * 256] = s[p][t];",
            id="double buffer, uniform variable",
        ),
        pytest.param(
            "__shared__ float s[3][256]; int t = threadIdx.x; s[0][t] = A[t]; for (int k = 0; k < 8; k++) { __syncthreads(); "
            "float v = s[k % 3][255 - t]; s[(k + 1) % 3][t] = v; } C[t + blockIdx.x * 256] = s[2][t];",
            id="ring of three, one barrier an iteration",
        ),
        pytest.param(
            "__shared__ float s[8]; int t = threadIdx.x, w = t / 32; if (t % 32 == 0) s[w] = A[t]; __syncwarp(); "
            "C[t + blockIdx.x * 256] = s[w];",
            id="a warp's own cell behind its barrier",
        ),
        pytest.param(HEAD + "if (i >= n) return; s[t] = A[i]; __syncthreads(); C[i] = s[0];", id="early return"),
        pytest.param(HEAD + "if (A[blockIdx.x] > 0) { s[t] = A[i]; __syncthreads(); C[i] = s[255 - t]; }", id="data that are the block's"),
        pytest.param(
            "__shared__ int flag; int t = threadIdx.x; if (t == 0) flag = A[0] > 0; __syncthreads(); if (flag) __syncthreads(); "
            "C[t + blockIdx.x * 256] = A[t];",
            id="a flag in shared memory",
        ),
        pytest.param(
            "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) C[i] = A[i];", id="grid stride"
        ),
    ],
)
def test_races_and_divergence_are_excluded(body: str) -> None:
    found = report(body)
    assert found == RaceReport(proved=found.proved) and found.proved > 0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(IN + "for (int h = 128; h > 0; h >>= 1) { if (t < h) s[t] += s[t + h]; }" + OUT, {"thread.x s"}, id="no barrier"),
        pytest.param(
            IN + "for (int h = 128; h > 0; h >>= 1) { if (t < h) s[t] += s[t + h - 1]; __syncthreads(); }" + OUT,
            {"thread.x s"},
            id="off by one",
        ),
        pytest.param(
            IN + "for (int h = 1; h < 256; h *= 2) { if (t % h == 0) s[t] += s[t + h]; __syncthreads(); }" + OUT, {"thread.x s"}, id="guard"
        ),
        pytest.param(
            IN + "for (int h = 1; h < 256; h *= 2) { float v = t >= h ? s[t - h] : 0; s[t] += v; __syncthreads(); }",
            {"thread.x s"},
            id="scan",
        ),
        pytest.param(
            "__shared__ float s[2][256]; int t = threadIdx.x; s[0][t] = A[t]; __syncthreads(); for (int k = 0; k < 8; k++) { "
            "s[(k + 1) % 2][t] = s[k % 2][255 - t]; } C[t + blockIdx.x * 256] = s[0][t];",
            {"thread.x s"},
            id="double buffer without a barrier",
        ),
        pytest.param(
            "__shared__ float s[8]; int t = threadIdx.x, w = t / 32; if (t % 32 == 0) s[w] = A[t]; __syncwarp(); "
            "C[t + blockIdx.x * 256] = s[7 - w];",
            {"thread.x s"},
            id="another warp's cell behind a warp's barrier",
        ),
        pytest.param(IN + "if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 16]; }" + OUT, {"thread.x s"}, id="lock step taken for granted"),
        pytest.param(HEAD + "C[(int)A[i]] = 1.5f * A[i];", {"thread.x dC", "block.x dC"}, id="scatter"),
        pytest.param(HEAD + "C[blockIdx.x * 255 + t] = A[i];", {"block.x dC"}, id="blocks that overlap"),
        pytest.param(HEAD + "C[t + 1] = C[t];", {"thread.x dC", "block.x dC"}, id="neighbours in global memory"),
    ],
)
def test_a_race_is_reported_for_its_axis_and_buffer(body: str, expected: set[str]) -> None:
    assert axes(report(body)) == expected


@pytest.mark.parametrize(
    "body",
    [
        "if (t < 128) __syncthreads();",
        "for (int k = 0; k < t; k++) __syncthreads();",
        "for (int k = 0; k < 9; k++) { if (A[i] > k) break; __syncthreads(); }",
        "for (int k = 0; k < 9; k++) { if (A[i] > k) continue; __syncthreads(); }",
        "int m = 0; if (A[i] > 0) m = 1; if (m) __syncthreads();",
    ],
)
def test_a_barrier_that_not_all_threads_reach_is_reported(body: str) -> None:
    (words,) = report(HEAD + body).divergent
    assert words.startswith("the barrier at k.cu:4") and "'k' may not be reached by all threads" in words


def test_two_dimensions() -> None:
    body = "__shared__ float s[16][17]; int x = threadIdx.x, y = threadIdx.y; s[y][x] = A[y * 16 + x]; {sync} "
    body += "C[blockIdx.x * 256 + x * 16 + y] = s[x][y];"
    assert report(body.format(sync="__syncthreads();"), "dim3(16, 16)").unknown == ()
    assert axes(report(body.format(sync=""), "dim3(16, 16)")) == {"thread.y s"}
    assert axes(report(body.replace("s[y][x] =", "s[0][x] =").format(sync="__syncthreads();"), "dim3(16, 16)")) == {"thread.y s"}
