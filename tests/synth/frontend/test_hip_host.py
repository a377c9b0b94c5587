"""HIP files with their host code, read whole and run in the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from synth.errors import SourceError, UnsupportedError, UsageError
from synth.frontend import read
from synth.ir.grammar import Launch, Module
from synth.ir.traversal import walk
from synth.source import ReadOptions, ReadResult, Source

HEADER = """#include <hip/hip_runtime.h>
#include <iostream>
#define HIP_CHECK(call) do { hipError_t e_ = (call); if (e_ != hipSuccess) { std::cerr << hipGetErrorString(e_); exit(1); } } while (0)
template <typename T, int N> __global__ __launch_bounds__(N) void scale(const T *x, T *y, T by) { y[blockIdx.x * N + threadIdx.x] = by * x[blockIdx.x * N + threadIdx.x]; }
template <typename T> __global__ void add(T *y, T what) { y[blockIdx.x * blockDim.x + threadIdx.x] += what; }
"""  # noqa: E501


def hip(text: str, **options: object) -> ReadResult:
    return read(Source(HEADER + text, "hip", "test.hip"), ReadOptions(**options))


def entry(launch: str) -> str:
    return f"""extern "C" void f(const float *x, float *y) {{
    float *dx, *dy;
    HIP_CHECK(hipMalloc(&dx, 512 * sizeof(float)));
    HIP_CHECK(hipMalloc((void **)&dy, 512 * sizeof(float)));
    HIP_CHECK(hipMemcpy(dx, x, 512 * sizeof(float), hipMemcpyHostToDevice));
    {launch}
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemcpy(y, dy, 512 * sizeof(float), hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(dx));
    HIP_CHECK(hipFree(dy));
}}"""


def launches(module: Module) -> list[Launch]:
    return [s for s in walk(module.body) if isinstance(s, Launch)]


@pytest.mark.parametrize(
    "launch",
    [
        "hipLaunchKernelGGL((scale<float, 128>), dim3(4), dim3(128), 0, 0, dx, dy, 3.0f);",
        "hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<float, 128>), 4, 128, 0, nullptr, dx, dy, 3.0f);",
        "scale<float, 128><<<4, 128>>>(dx, dy, 3.0f);",
        "(scale<float, 128>)<<<dim3(4), dim3(128), 0, 0>>>(dx, dy, 3.0f);",
        "hipStream_t s; hipStreamCreate(&s); hipLaunchKernelGGL((scale<float, 128>), 4, 128, 0, s, dx, dy, 3.0f); hipStreamDestroy(s);",
        "int d; hipGetDevice(&d); hipDeviceProp_t p; hipGetDeviceProperties(&p, d); std::cout << p.name; "
        "scale<float, 128><<<4, p.warpSize * 2>>>(dx, dy, 3.0f);",
        "int w; hipDeviceGetAttribute(&w, hipDeviceAttributeWarpSize, 0); scale<float, 128><<<4, 2 * w>>>(dx, dy, 3.0f);",
    ],
)
def test_launches(execute, launch):
    module = hip(entry(launch)).module
    assert module.dialect == "hip" and module.warp_size == 64 and [x.kernel for x in launches(module)] == ["scale"]
    x, y = np.arange(512, dtype=np.float32), np.zeros(512, np.float32)
    execute(module, x=x, y=y)
    assert y.tolist() == (3 * x).tolist()


def test_several_kernels_and_memory_between_them(execute):
    text = entry("""scale<float, 128><<<4, 128>>>(dx, dy, 2.0f);
    float one = 1; hipLaunchKernelGGL(add, dim3(8), dim3(64), 0, 0, dy, one);
    hipMemsetAsync(dx, 0, 512 * 4, 0);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(add<float>), 2, 256, 0, 0, dx, 5.0f); hipMemcpyDtoD(dy, dx, 4);""")
    module = hip(text).module
    x, y = np.arange(512, dtype=np.float32), np.zeros(512, np.float32)
    execute(module, x=x, y=y)
    assert y[0] == 5 and y[1:].tolist() == (2 * x + 1)[1:].tolist()
    assert [s.kernel for s in launches(module)] == ["scale", "add", "add"]


def test_symbols_and_managed_memory(execute):
    text = """__constant__ float weights[4]; __device__ float bias = 10;
    __global__ void k(float *p) { p[threadIdx.x] = weights[threadIdx.x] + bias; }
    extern "C" void f(const float *w, float *y) {
        hipMemcpyToSymbol(HIP_SYMBOL(weights), w, 4 * sizeof(float));
        float *p; hipMallocManaged(&p, 16);
        k<<<1, 4>>>(p);
        hipDeviceSynchronize();
        for (int i = 0; i < 4; i++) y[i] = p[i];
        hipFree(p);
    }"""
    w, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    execute(hip(text).module, w=w, y=y)
    assert y.tolist() == [10, 11, 12, 13]


def test_a_file_without_the_header_and_code_for_one_target(execute):
    text = """__global__ void k(float *y) {
    #if defined(__HIP_DEVICE_COMPILE__) && defined(__gfx1100__)
        y[threadIdx.x] = 11;
    #elif defined(__gfx90a__)
        y[threadIdx.x] = 90;
    #endif
    }
    extern "C" void f(float *y) { k<<<1, 4>>>(y); }"""
    for target, expected in (("gfx90a", 90), ("gfx1100", 11)):
        y = np.zeros(4, np.float32)
        execute(read(Source(text, "hip", "t.hip"), ReadOptions(source_target=target, extents={"y": "4"})).module, y=y)
        assert y.tolist() == [expected] * 4


@pytest.mark.parametrize(
    ("launch", "what"),
    [
        ("hipModule_t m; hipModuleLoad(&m, 0);", "unknown type name 'hipModule_t'"),
        ("cudaMemset(dx, 0, 4);", "cudaMemset"),
    ],
)
def test_what_hip_does_not_have_is_an_error_of_the_source(launch, what):
    with pytest.raises(SourceError, match=what):
        hip(entry(launch))


@pytest.mark.parametrize(
    ("launch", "what"),
    [
        ("hipFuncAttributes q; hipFuncGetAttributes(&q, 0);", "hipFuncGetAttributes"),
        (
            "int n; hipDeviceGetAttribute(&n, hipDeviceAttributeComputeCapabilityMajor, 0); scale<float, 128><<<n, 128>>>(dx, dy, 1.0f);",
            "attr",
        ),
        ("hipDeviceProp_t p; hipGetDeviceProperties(&p, 0); scale<float, 128><<<p.clockRate, 128>>>(dx, dy, 1.0f);", "clockRate"),
    ],
)
def test_refusals_name_what_is_not_read(launch, what):
    with pytest.raises(UnsupportedError) as caught:
        hip(entry(launch + " scale<float, 128><<<4, 128>>>(dx, dy, 1.0f);"))
    assert what in caught.value.message, caught.value.message


def test_an_unknown_target():
    with pytest.raises(UsageError, match="sm_80"):
        hip(entry(""), source_target="sm_80")


def test_a_hip_header_in_a_file_that_is_read_as_cuda():
    with pytest.raises(SourceError, match="--from hip"):
        read(Source("#include <hip/hip_runtime.h>\n__global__ void k() {}", "cuda", "t.cu"), ReadOptions())
