"""CUDA C++ that the emulator must take as nvcc does, with values."""

from __future__ import annotations

import numpy as np
import pytest

from devices.device import Program
from devices.registry import find_device
from devices.status import Status
from tests.devices.programs import case, cuda, program, run

X = np.arange(64, dtype=np.float32)


def values(kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    (done,) = run(find_device("cuda", prefer="emulated"), cuda(kernel, grid, block, shared), "cuda")
    assert done.status is Status.OK, done.log
    return done.outputs["y"]


def test_a_tiled_product_with_templates_and_two_dimensions() -> None:
    text = """
    #include <iostream>
    #include <vector>
    template <typename T, int TILE> __global__ void product(const T* a, const T* b, T* c, int n) {
        __shared__ T as[TILE][TILE + 1], bs[TILE][TILE + 1];
        int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
        T sum = 0;
        for (int t = 0; t < n / TILE; ++t) {
            as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
            bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
            __syncthreads();
            for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
            __syncthreads();
        }
        c[row * n + col] = sum;
    }
    extern "C" void entry(const float* x, float* y) {
        float *dx, *dy; const int n = 8;
        cudaMalloc((void**)&dx, 256); cudaMalloc((void**)&dy, 256);
        cudaMemcpy(dx, x, 256, cudaMemcpyHostToDevice);
        dim3 threadIdx(4, 4);  // host code may shadow the names of the device
        product<float, 4><<<dim3(n / 4, n / 4), threadIdx>>>(dx, dx, dy, n);
        if (cudaGetLastError() != cudaSuccess) std::cout << "failed" << std::endl;
        cudaMemcpy(y, dy, 256, cudaMemcpyDeviceToHost);
        cudaFree(dx); cudaFree(dy);
    }"""
    (done,) = run(find_device("cuda", prefer="emulated"), text, "cuda")
    square = X.reshape(8, 8)
    assert done.status is Status.OK and np.array_equal(done.outputs["y"].reshape(8, 8), square @ square)


def test_vector_types_and_views() -> None:
    y = values(
        """__global__ void k(const float* __restrict__ x, float* __restrict__ y) {
            int t = threadIdx.x;
            if (t >= 16) return;
            float4 v = __ldg(reinterpret_cast<const float4*>(x) + t);
            float2 pair = make_float2(v.x + v.y, v.z + v.w);
            ((float4*)y)[t] = make_float4(pair.x, pair.y, v.w, v.x);
        }"""
    )
    v = X.reshape(16, 4)
    assert np.array_equal(y.reshape(16, 4), np.stack([v[:, 0] + v[:, 1], v[:, 2] + v[:, 3], v[:, 3], v[:, 0]], 1))


def test_a_reduction_by_shuffles_in_a_partial_warp() -> None:
    y = values(
        """__global__ void k(const float* x, float* y) {
            float v = x[threadIdx.x];
            for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d, 8);
            if (threadIdx.x % 8 == 0) y[threadIdx.x / 8] = v;
            if (threadIdx.x >= 5) y[threadIdx.x] = 0;
        }""",
        block=40,
    )
    assert np.array_equal(y[:5], X[:40].reshape(5, 8).sum(1))


def test_a_lane_that_is_not_there_gives_poison() -> None:
    y = values("__global__ void k(const float* x, float* y) { y[threadIdx.x] = __shfl_down_sync(~0u, x[threadIdx.x], 8); }", block=16)
    assert np.array_equal(y[:8], X[8:16]) and np.isnan(y[8:16]).all()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("__shfl_xor_sync(0xfu << (t & 28), x[t], 1)", X.astype(int) ^ 1),
        ("__any_sync(~0u, t == 40)", [0] * 32 + [1] * 32),
        ("__all_sync(~0u, t < 32)", [1] * 32 + [0] * 32),
        ("__match_any_sync(~0u, t % 32 / 31) == 0x80000000u", [0] * 31 + [1] + [0] * 31 + [1]),
        ("__reduce_add_sync(~0u, t)", [496] * 32 + [1520] * 32),
        ("__reduce_min_sync(~0u, -t)", [-31] * 32 + [-63] * 32),
        ("__syncthreads_count(t % 3 == 0)", [22] * 64),
        ("__syncthreads_or(t == 9)", [1] * 64),
        ("__syncthreads_and(t < 63)", [0] * 64),
        ("__popc(t) + __clz(t + 1) + __ffs(t)", [bin(t).count("1") + 32 - (t + 1).bit_length() + (t & -t).bit_length() for t in range(64)]),
        ("__float2int_rn(x[t] / 2)", [round(t / 2) for t in range(64)]),
        ("__float_as_int(x[t]) >> 23", X.view(np.int32) >> 23),
        ("min(t, 7) + max(t, 60u) + fminf(x[t], 3)", [min(t, 7) + max(t, 60) + min(t, 3) for t in range(64)]),
        ("__mul24(t, -3) + __dp4a(0x01020304, t, 5)", [-3 * t + 4 * t + 5 for t in range(64)]),
        ("rsqrtf(x[t] + 1) == 1.0f / sqrtf(x[t] + 1)", [1] * 64),
        ("abs(-x[t]) + pow(x[t], 2) - x[t] * x[t]", X),
    ],
)
def test_functions(expression: str, expected: object) -> None:
    y = values(f"__global__ void k(const float* x, float* y) {{ int t = threadIdx.x; y[t] = {expression}; }}")
    assert np.array_equal(y, np.array(expected, np.float32))


def test_atomics_and_device_variables() -> None:
    y = values(
        """__device__ int counter; __constant__ float scale[2] = {2, 3};
        __global__ void k(const float* x, float* y) {
            int t = threadIdx.x;
            y[t] = 0;
            __syncthreads();
            atomicAdd(&counter, 1);
            atomicMax((int*)&y[1], __float_as_int(x[t]));
            unsigned old = atomicInc((unsigned*)&y[2], 9u);
            if (old > 9) y[4] = 1;
            __syncthreads();
            if (t == 0) { y[0] = counter * scale[1]; atomicExch(&y[3], 5.0f); atomicCAS((int*)&y[2], 4, 0); }
        }"""
    )
    assert list(y[:5]) == [192, 63, 0, 5, 0]


def test_half_precision_rounds_once() -> None:
    y = values(
        """#include <cuda_fp16.h>
        __global__ void k(const float* x, float* y) {
            __shared__ half s[64];
            int t = threadIdx.x;
            s[t] = __float2half(x[t] / 3);
            __syncthreads();
            half2 h = __halves2half2(s[t], s[63 - t]);
            y[t] = __half2float(__hadd(__low2half(h), __high2half(h))) + float(__hfma(s[t], s[t], __float2half(1.0f)));
        }"""
    )
    h = (X / np.float32(3)).astype(np.float16)
    exact = (h.astype(np.float64) * h.astype(np.float64) + 1).astype(np.float16)
    assert np.array_equal(y, (h + h[::-1]).astype(np.float32) + exact.astype(np.float32))


def test_cooperative_groups() -> None:
    y = values(
        """#include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        __global__ void k(const float* x, float* y) {
            cg::thread_block block = cg::this_thread_block();
            auto tile = cg::tiled_partition<8>(block);
            float sum = cg::reduce(tile, x[block.thread_rank()], cg::plus<float>());
            block.sync();
            float first = tile.shfl(sum, 0);
            y[threadIdx.x] = tile.thread_rank() == 0 ? sum : first + tile.meta_group_rank();
        }"""
    )
    sums = np.repeat(X.reshape(8, 8).sum(1), 8)
    assert np.array_equal(y, sums + np.where(np.arange(64) % 8 == 0, 0, np.arange(64) // 8).astype(np.float32))


def test_three_dimensions_of_threads_and_blocks() -> None:
    text = cuda(
        """__global__ void k(const float* x, float* y) {
            int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
            int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
            y[b * 8 + t] = 100 * b + t;
        }"""
    ).replace("<<<1, 64, 0>>>", "<<<dim3(2, 2, 2), dim3(2, 2, 2)>>>")
    (done,) = run(find_device("cuda", prefer="emulated"), text, "cuda")
    assert np.array_equal(done.outputs["y"], [100 * (i // 8) + i % 8 for i in range(64)])


def test_defines_and_headers_of_the_user() -> None:
    device = find_device("cuda", prefer="emulated")
    made = program(
        cuda('#include "mine.cuh"\n__global__ void k(const float* x, float* y) { y[threadIdx.x] = f(x[threadIdx.x]); }'), "cuda", 64
    )
    with_header = Program(
        made.text,
        "cuda",
        "entry",
        made.params,
        {"FACTOR": "3"},
        headers={"mine.cuh": "__device__ inline float f(float v) { return FACTOR * v; }"},
    )
    (done,) = device.run(device.build(with_header), (case(64),), 10.0)
    assert done.status is Status.OK and np.array_equal(done.outputs["y"], 3 * X)


def test_kernels_in_a_users_header_are_rewritten_too() -> None:
    header = """template <int N> __global__ void k(const float* x, float* y) {
        __shared__ float s[N];
        s[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = s[N - 1 - threadIdx.x];
    }
    inline void launch(const float* x, float* y) { k<64><<<1, 64>>>(x, y); }"""
    device = find_device("cuda", prefer="emulated")
    made = program(cuda('#include "kernels/k.cuh"\n').replace("k<<<1, 64, 0>>>(dx, dy)", "launch(dx, dy)"), "cuda", 64)
    with_header = Program(made.text, "cuda", "entry", made.params, headers={"kernels/k.cuh": header, "../outside.h": ""})
    (done,) = device.run(device.build(with_header), (case(64),), 10.0)
    assert done.status is Status.OK and np.array_equal(done.outputs["y"], X[::-1])


def test_a_kernel_may_have_the_name_of_a_library_function() -> None:
    text = cuda('extern "C" __global__ void exp(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }').replace(
        "k<<<", "exp<<<"
    )
    (done,) = run(find_device("cuda", prefer="emulated"), text, "cuda")
    assert done.status is Status.OK and np.array_equal(done.outputs["y"], X + 1)


def test_a_kernel_over_many_blocks_uses_all_workers_and_gives_the_same() -> None:
    y = values(
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            s[threadIdx.x] = x[threadIdx.x] * (blockIdx.x < 64);
            __syncthreads();
            if (threadIdx.x == 0 && blockIdx.x < 64) y[blockIdx.x] = s[blockIdx.x] + s[63];
        }""",
        grid=2000,
    )
    assert np.array_equal(y, X + 63)
