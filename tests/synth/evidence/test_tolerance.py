from pathlib import Path

import pytest

import experiments
from synth import frontend
from synth.analysis.extents import complete_params
from synth.evidence.tolerance import UNKNOWN_TRIPS, longest_reduction, tolerances
from synth.ir.grammar import Module
from synth.source import ReadOptions, Source

GEMM = """#include <cuda_runtime.h>
__global__ void k(const float* A, const float* B, float* C) {
  for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < 64 * 64; id += blockDim.x * gridDim.x) {
    float s = 0; for (int l = 0; l < 400; l++) s += A[id / 64 * 400 + l] * B[l * 64 + id % 64];
    C[id] = s; } }
extern "C" void f(const float* A, const float* B, float* C) { k<<<4, 32>>>(A, B, C); }"""
TREE = """#include <cuda_runtime.h>
__global__ void k(const float* A, float* C) {
  __shared__ float s[128];
  s[threadIdx.x] = A[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) C[blockIdx.x] = s[0]; }
extern "C" void f(const float* A, float* C) { k<<<8, 128>>>(A, C); }"""


def module(text: str, dialect: str = "vnni") -> Module:
    return complete_params(frontend.read(Source(text, dialect, "f.cu"), ReadOptions()).module)


def test_elementwise_loops_fold_nothing() -> None:
    m = module("void f(const float* A, float* C) { for (int i = 0; i < 64; i++) for (int j = 0; j < 9; j++) C[i * 9 + j] = A[i * 9 + j]; }")
    assert longest_reduction(m) == 1
    assert tolerances(m)["C"].relative == 1e-5


def test_a_sum_counts_and_the_loops_around_it_do_not() -> None:
    m = module("""void f(const float* A, float* C) {
      for (int i = 0; i < 64; i++) { float s = 0; for (int j = 0; j < 400; j++) s += A[i * 400 + j]; C[i] = s; } }""")
    assert longest_reduction(m) == 400
    assert tolerances(m)["C"].relative == pytest.approx(5e-5)


def test_nested_sums_multiply() -> None:
    m = module("""void f(const float* A, float* C) {
      float s = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < 16; j++) s += A[i * 16 + j]; C[0] = s; }""")
    assert longest_reduction(m) == 128


def test_integers_are_exact() -> None:
    m = module("void f(const int* A, int* C) { for (int i = 0; i < 64; i++) C[0] += A[i]; }")
    assert tolerances(m)["C"].relative == 0.0 and str(tolerances(m)["C"]) == "exact"


def test_a_sum_of_unknown_length() -> None:
    m = module("void f(const float* A, float* C, int n) { for (int i = 0; i < n; i++) C[0] += A[i]; }")
    assert longest_reduction(m) == UNKNOWN_TRIPS


def test_grid_stride_loops_are_no_sums() -> None:
    assert longest_reduction(module(GEMM, "cuda")) == 400


def test_threads_that_exchange_values_count() -> None:
    assert longest_reduction(module(TREE, "cuda")) == 128


def suite_terms(file: str, **defines: int) -> int:
    text = (Path(experiments.__file__).parent / "suite/cuda" / file).read_text()
    options = ReadOptions(defines={name: str(value) for name, value in defines.items()})
    return longest_reduction(complete_params(frontend.read(Source(text, "cuda", file), options).module))


def test_terms_of_real_kernels() -> None:
    assert suite_terms("gemm_tiled.cu", M=64, K=128, N=64) == 128
    assert suite_terms("gemm_register.cu", M=64, K=128, N=64) == 128
    assert suite_terms("softmax_shuffle.cu", ROWS=4, COLS=25) == 128  # threads of a block
    assert suite_terms("softmax_shared_tree.cu", ROWS=4, COLS=640) == 640
    assert suite_terms("layernorm_naive.cu", BATCH=1, SEQ=4, DIM=128) == 128
    assert suite_terms("add_float4.cu", N=1000) == 1
    assert suite_terms("maxpool_naive.cu") <= 25


@pytest.mark.parametrize("pragma", ["omp simd reduction(+ : s)", "omp parallel for reduction(+ : s)"])
def test_declared_reductions_count(pragma: str) -> None:
    m = module(f"""void f(const float* A, float* C) {{ float s = 0;
      #pragma {pragma}
      for (int j = 0; j < 400; j++) s += A[j];
      C[0] = s; }}""")
    assert longest_reduction(m) == 400
