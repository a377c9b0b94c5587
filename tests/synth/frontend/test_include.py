"""Our include folder: every header parses in every language it is for, and says what the real one says."""

from __future__ import annotations

import pytest

from synth.frontend.hip import HIP
from synth.frontend.reader import clang
from synth.spec import SPECS

HIP_ARGUMENTS = HIP.arguments(SPECS["gfx90a"])
HEADERS = sorted(str(p.relative_to(clang.INCLUDE_FOLDER)) for p in clang.INCLUDE_FOLDER.rglob("*") if p.is_file())
CUDA = (
    "cu",
    "device_",
    "driver_types",
    "host_defines",
    "vector_",
    "builtin_types",
    "common_functions",
    "cooperative",
    "math_functions",
    "sm_",
)
CUDA_ONLY = [h for h in HEADERS if h.startswith((*CUDA, "mma", "crt/", "xpiler/cuda", "nv", "math_constants", "library_types"))]
HIP_ONLY = [h for h in HEADERS if h.startswith(("hip/", "xpiler/hip"))]
SHARED = ("cooperative", "cuda_fp16", "device_launch_parameters", "host_defines", "vector_", "xpiler/gpu")  # headers that HIP's are made of
C_HEADERS = [h for h in HEADERS if h.endswith(".h") and h not in (*CUDA_ONLY, *HIP_ONLY) and not h.startswith("xpiler/")]


@pytest.mark.parametrize("header", [h for h in HEADERS if h not in HIP_ONLY])
def test_every_header_parses_in_cuda(header):
    clang.parse(f"#include <{header}>\n#include <{header}>\n", "h.cu", clang.CUDA_ARGUMENTS, force_include=("cuda_runtime.h",))


@pytest.mark.parametrize("header", [h for h in HEADERS if h not in CUDA_ONLY or h.startswith(SHARED)])
def test_every_header_parses_in_hip(header):
    clang.parse(f"#include <{header}>\n#include <{header}>\n", "h.hip", HIP_ARGUMENTS, force_include=("hip/hip_runtime.h",))


@pytest.mark.parametrize("header", [h for h in HEADERS if h not in (*CUDA_ONLY, *HIP_ONLY) and not h.startswith("xpiler/")])
def test_headers_parse_in_plain_cpp(header):
    clang.parse(f"#include <{header}>\n", "h.cpp")


@pytest.mark.parametrize("header", C_HEADERS)
def test_c_headers_parse_in_c(header):
    clang.parse(f"#include <{header}>\n", "h.c", ("-x", "c", "-std=gnu17"))


def test_sizes_alignments_and_values():
    """CUDA C++ Programming Guide, Built-in Vector Types (alignments); ISO C 5.2.4.2 (limits)."""
    facts = [
        "sizeof(float4) == 16 && alignof(float4) == 16",
        "sizeof(float3) == 12 && alignof(float3) == 4",
        "alignof(float2) == 8 && alignof(double4) == 16 && alignof(double2) == 16",
        "alignof(uchar4) == 4 && alignof(short2) == 4 && sizeof(longlong2) == 16",
        "sizeof(dim3) == 12 && dim3(4, 5).z == 1 && dim3(4).x == 4",
        "sizeof(size_t) == 8 && sizeof(int64_t) == 8 && sizeof(wchar_t) == 4",
        "FLT_MAX == 0x1.fffffep127f && FLT_MIN == 0x1p-126f && FLT_EPSILON == 0x1p-23f",
        "DBL_MAX == 0x1.fffffffffffffp1023 && INT_MIN == -2147483648LL && UINT_MAX == 4294967295u",
        "INT64_MAX == 9223372036854775807 && UINT8_MAX == 255 && SIZE_MAX == ~0ul",
        "std::numeric_limits<float>::lowest() == -FLT_MAX && std::numeric_limits<float>::infinity() > FLT_MAX",
        "std::numeric_limits<int>::max() == INT_MAX && std::numeric_limits<unsigned char>::min() == 0",
        "std::max(2, 3) == 3 && std::min(2.f, 1.f) == 1.f && std::clamp(7, 0, 5) == 5",
        "std::is_same<decltype(exp(1.f)), float>::value && std::is_same<decltype(exp(1)), double>::value",
        "std::is_same<decltype(pow(1.f, 2)), double>::value && std::is_same<decltype(std::pow(1.f, 2.f)), float>::value",
        "std::is_same<decltype(max(1u, 2)), unsigned>::value && std::is_same<decltype(fmaxf(1, 2)), float>::value",
        "std::is_same<decltype(abs(-1.f)), float>::value && std::is_same<decltype(abs(-1)), int>::value",
        "cudaSuccess == 0 && cudaMemcpyDeviceToHost == 2",
    ]
    text = "#include <cfloat>\n#include <climits>\n#include <limits>\n#include <type_traits>\n"
    text += "".join(f"static_assert({fact});\n" for fact in facts)
    clang.parse(text, "facts.cu", clang.CUDA_ARGUMENTS, force_include=("cuda_runtime.h",))


def test_a_typical_driver_parses():
    text = """
#include <iostream>
#include <vector>
#include <chrono>
#include <random>
#include <fstream>
#include <iomanip>
#include <memory>
__global__ void k(float *x) { *x = 1; }
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1024;
  std::vector<float> a(n), b(n, 1.f);
  std::mt19937 generator(42);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (auto &v : a) v = draw(generator);
  std::generate(b.begin(), b.end(), [&]() { return draw(generator); });
  auto start = std::chrono::high_resolution_clock::now();
  k<<<1, 1>>>(a.data());
  std::chrono::duration<double, std::milli> took = std::chrono::high_resolution_clock::now() - start;
  std::cout << std::fixed << std::setprecision(3) << took.count() << " ms, " << std::string("n = ") + std::to_string(n) << std::endl;
  std::unique_ptr<float[]> p(new float[n]);
  std::ofstream file("out.txt");
  file << p[0] << '\\n';
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  printf("%s\\n", properties.name);
  return std::equal(a.begin(), a.end(), b.begin()) ? 0 : 1;
}
"""
    clang.parse(text, "driver.cu", clang.CUDA_ARGUMENTS, force_include=("cuda_runtime.h",))
