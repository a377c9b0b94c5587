"""HIP on the emulator: wavefronts of 64 and 32 lanes, launches by macro, and what only HIP has."""

from __future__ import annotations

import numpy as np
import pytest

from devices.device import Run
from devices.registry import find_device
from devices.status import Status
from tests.devices.programs import gpu, run

X = np.arange(64, dtype=np.float32)
LANES = np.arange(64)


def done(kernel: str, block: int = 64, target: str | None = None) -> Run:
    return run(find_device("hip", target, prefer="emulated"), gpu("hip", kernel, 1, block), "hip")[0]


def values(kernel: str, block: int = 64, target: str | None = None) -> np.ndarray:  # type: ignore[type-arg]
    found = done(kernel, block, target)
    assert found.status is Status.OK, found.log
    return found.outputs["y"]


def each(expression: str, target: str | None = None) -> np.ndarray:  # type: ignore[type-arg]
    return values(
        f"__global__ void k(const float* x, float* y) {{ int t = threadIdx.x; float v = x[t]; y[t] = {expression}; }}", 64, target
    )


@pytest.mark.parametrize(
    ("expression", "wide", "narrow"),
    [
        ("warpSize", [64] * 64, [32] * 64),
        ("__shfl_down(v, 32)", [*range(32, 64), *range(32, 64)], LANES),
        ("__shfl_down(v, 1)", [*range(1, 64), 63], [*range(1, 32), 31, *range(33, 64), 63]),
        ("__shfl_up(v, 2)", [0, 1, *range(62)], [0, 1, *range(30), 32, 33, *range(32, 62)]),
        ("__shfl_xor(v, 16)", LANES ^ 16, LANES ^ 16),
        ("__shfl(v, 3)", [3] * 64, [3] * 32 + [35] * 32),
        ("__shfl(v, 3, 8)", LANES // 8 * 8 + 3, LANES // 8 * 8 + 3),
        ("__popcll(__ballot(t < 40))", [40] * 64, [32] * 32 + [8] * 32),
        ("(__ballot(t == 50) >> 50) == 1", [1] * 64, [0] * 64),
        ("__any(t == 40)", [1] * 64, [0] * 32 + [1] * 32),
        ("__all(t < 32)", [0] * 64, [1] * 32 + [0] * 32),
        ("__popcll(__activemask())", [64] * 64, [32] * 64),
        ("__lane_id()", LANES, LANES % 32),
        ("__builtin_amdgcn_readfirstlane(t)", [0] * 64, [0] * 32 + [32] * 32),
        ("__builtin_amdgcn_ds_swizzle(t, 0x041F)", LANES ^ 1, LANES ^ 1),
        ("__builtin_amdgcn_ds_swizzle(t, 0x801B)", LANES // 4 * 4 + 3 - LANES % 4, LANES // 4 * 4 + 3 - LANES % 4),
        ("__builtin_amdgcn_ds_bpermute(4 * (t + 1), t)", (LANES + 1) % 64, LANES // 32 * 32 + (LANES + 1) % 32),
    ],
)
def test_wavefronts(expression: str, wide: object, narrow: object) -> None:
    assert np.array_equal(each(expression), np.array(wide, np.float32))
    assert np.array_equal(each(expression, "gfx1100"), np.array(narrow, np.float32))


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (0xB1, LANES ^ 1),  # quad_perm:[1,0,3,2]
        (0x102, np.where(LANES % 16 < 14, LANES + 2, -1)),  # row_shl:2
        (0x111, np.where(LANES % 16 > 0, LANES - 1, -1)),  # row_shr:1
        (0x128, LANES // 16 * 16 + (LANES + 8) % 16),  # row_ror:8
        (0x130, np.where(LANES < 63, LANES + 1, -1)),  # wave_shl:1
        (0x134, (LANES + 1) % 64),  # wave_rol:1
        (0x138, LANES - 1),  # wave_shr:1
        (0x13C, (LANES - 1) % 64),  # wave_ror:1
        (0x140, LANES ^ 15),  # row_mirror
        (0x141, LANES ^ 7),  # row_half_mirror
        (0x142, LANES // 16 * 16 - 1),  # row_bcast:15
        (0x143, np.where(LANES >= 32, 31, -1)),  # row_bcast:31
    ],
)
def test_data_parallel_primitives(control: int, expected: object) -> None:
    assert np.array_equal(each(f"__builtin_amdgcn_update_dpp(-1, t, {control}, 0xf, 0xf, false)"), np.array(expected, np.float32))
    assert np.array_equal(
        each(f"__builtin_amdgcn_update_dpp(-1, t, {control}, 0xf, 0xf, true)"), np.maximum(np.array(expected, np.float32), 0)
    )


def test_a_dpp_control_that_is_not_emulated() -> None:
    text = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = __builtin_amdgcn_mov_dpp(threadIdx.x, 0x150, 15, 15, true); }"
    assert done(text).status is Status.UNSUPPORTED and "this DPP control in line 2 is not emulated" in done(text).log


VECTORS = """typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef __attribute__((__vector_size__(2 * sizeof(float)))) float floatx2;
using halfx8 = _Float16 __attribute__((ext_vector_type(8)));
template <class T> using four = T __attribute__((ext_vector_type(4)));
"""


def test_vector_types_of_clang_and_of_hip() -> None:
    y = values(
        VECTORS
        + """__global__ void k(const float* x, float* y) {
            int t = threadIdx.x;
            floatx4 v = {1, 2, 3}, w = v * 2.0f + 1.0f;
            v[3] = w.y; v.x += w[0]; w = -w;
            floatx2 p = {1, 2}; p *= p;
            halfx8 h = (halfx8)(_Float16)2; h[7] = 3;
            four<int> n = {1, 2, 3, 4}; n = (n << 2) ^ 1;
            float4 f = make_float4(1, 2, 3, 4), g = f * 2.0f - f / f; g += f;
            y[t] = v.x + 10 * v.w + 100 * w.z + 1000 * p[1] + (float)h[6] + (float)h[7] + n.y + (g == g ? g.w : 0);
        }"""
    )
    assert np.array_equal(y, np.full(64, (1 + 3) + 10 * 5 + 100 * -7 + 1000 * 4 + 2 + 3 + 9 + 11, np.float32))


@pytest.mark.parametrize(
    "declaration", ["float v __attribute__((ext_vector_type(4)));", "struct P { float v __attribute__((vector_size(16))); };"]
)
def test_a_vector_type_elsewhere_is_named(declaration: str) -> None:
    found = done(f"__global__ void k(const float* x, float* y) {{ {declaration} y[threadIdx.x] = 0; }}")
    assert found.status is Status.COMPILE_ERROR and "xp_a_vector_type_is_declared_by_typedef_or_using_only" in found.log


def test_masks_have_64_bits() -> None:
    assert np.array_equal(each("__shfl_xor_sync(0xffffffffffffffffull, v, 32)"), LANES ^ 32)
    text = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], 1); }"
    assert done(text).status is Status.RACE  # lanes 32 to 63 are not named
    assert "does not name the calling lane 32" in done(text).log


def test_lanes_that_run_a_shuffle_together() -> None:
    """Under a condition, the lanes for which it holds: the others wait at the barrier or have returned."""
    kernel = """__global__ void k(const float* x, float* y) {{
        __shared__ float s[64];
        int t = threadIdx.x;
        float v = x[t];
        {guard}
            v += __shfl_down(v, 4);
            s[t] = v + (float)__popcll(__ballot(1));
        {after}
        y[t] = t < 4 ? s[t] : 0;
    }}"""
    expected = [X[t] + X[t + 4] + 8 for t in range(4)]
    assert np.array_equal(values(kernel.format(guard="if (t < 8) {", after="} __syncthreads();"))[:4], expected)
    assert np.array_equal(values(kernel.format(guard="if (t >= 8) return;", after="__syncthreads();"))[:4], expected)


def test_which_of_two_shuffles_comes_first_is_not_guessed() -> None:
    text = """__global__ void k(const float* x, float* y) {
        float v = x[threadIdx.x];
        if (threadIdx.x < 8) v += __shfl_down(v, 4);
        y[threadIdx.x] = __shfl(v, 0);
    }"""
    found = done(text)
    assert found.status is Status.UNSUPPORTED and "__shfl_down in line 4" in found.log


@pytest.mark.parametrize(
    "launch",
    [
        "hipLaunchKernelGGL(k, dim3(1), dim3(64), 0, 0, dx, dy, 3.0f);",
        "hipLaunchKernelGGL((k<64, float>), 1, 64, 0, nullptr, dx, dy, 3.0f);",
        "hipLaunchKernelGGL(HIP_KERNEL_NAME(k<64, float>), dim3(1), dim3(64), 64 * sizeof(float), NULL, dx, dy, 3.0f);",
        "k<64, float><<<dim3(1), dim3(64), 0, 0>>>(dx, dy, 3.0f);",
    ],
)
def test_launches(launch: str) -> None:
    kernel = """template <int N = 64, class T = float> __global__ void k(const T* x, T* y, T a) {
        HIP_DYNAMIC_SHARED(float, unused)
        y[hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x] = a * x[threadIdx.x] + (hipGridDim_x - 1);
    }"""
    text = gpu("hip", kernel).replace("k<<<1, 64, 0>>>(dx, dy);", launch.replace("(k,", "((k<64>),"))
    (found,) = run(find_device("hip", prefer="emulated"), text, "hip")
    assert found.status is Status.OK and np.array_equal(found.outputs["y"], 3 * X), found.log


def test_the_host_api_under_its_own_names() -> None:
    text = """#include <hip/hip_runtime.h>
    #include <cstdio>
    #define CHECK(call) do { hipError_t e = (call); if (e != hipSuccess) { printf("%s", hipGetErrorString(e)); exit(1); } } while (0)
    __constant__ float scale[2];
    __global__ void k(float* y) { y[threadIdx.x] = y[threadIdx.x] * scale[1]; }
    extern "C" void entry(const float* x, float* y) {
        float* d; hipStream_t stream; hipEvent_t start; hipDeviceProp_t about;
        float host[2] = {1, 2};
        CHECK(hipGetDeviceProperties(&about, 0));
        CHECK(hipStreamCreate(&stream));
        CHECK(hipEventCreate(&start));
        CHECK(hipMalloc((void**)&d, 256));
        CHECK(hipMemcpyToSymbol(HIP_SYMBOL(scale), host, sizeof(host)));
        CHECK(hipMemcpyAsync(d, x, 256, hipMemcpyHostToDevice, stream));
        hipLaunchKernelGGL(k, dim3(1), dim3(about.warpSize), 0, stream, d);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
        CHECK(hipMemcpyDtoH(y, d, 256));
        CHECK(hipFree(d));
    }"""
    (found,) = run(find_device("hip", prefer="emulated"), text, "hip")
    assert found.status is Status.OK and np.array_equal(found.outputs["y"], 2 * X), found.log


def test_reports_use_hips_names() -> None:
    text = gpu("hip", "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }")
    (found,) = run(find_device("hip", prefer="emulated"), text.replace("hipFree(dy);", "hipFree(dy); hipFree(dy);"), "hip")
    assert found.status is Status.CRASH and found.log.startswith("hipFree of buffer 'dy', which was freed before")


def test_the_name_of_a_library_function_in_a_launch_macro() -> None:
    text = gpu("hip", "__global__ void exp(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }")
    text = text.replace("k<<<1, 64, 0>>>(dx, dy)", "hipLaunchKernelGGL(exp, 1, 64, 0, 0, dx, dy)")
    (found,) = run(find_device("hip", prefer="emulated"), text, "hip")
    assert found.status is Status.OK and np.array_equal(found.outputs["y"], X + 1), found.log


def test_half_precision_and_groups() -> None:
    y = values(
        """#include <hip/hip_fp16.h>
        #include <hip/hip_cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void k(const float* x, float* y) {
            auto tile = cg::tiled_partition<64>(cg::this_thread_block());
            __half h = __float2half(x[threadIdx.x]);
            float sum = __half2float(__hadd(h, h));
            for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
            y[threadIdx.x] = tile.shfl(sum, 0) + (float)(tile.ballot(threadIdx.x == 63) >> 63);
        }"""
    )
    assert np.array_equal(y, np.full(64, 2 * 2016 + 1, np.float32))
