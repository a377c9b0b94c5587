"""The default lowering of kernels in the idioms of real code: what it computes, and what it looks like."""

from __future__ import annotations

import re
import time

import pytest

from synth.analysis.extents import complete_params
from synth.frontend import read
from synth.ir.grammar import Module
from synth.ir.hashing import structural_hash
from synth.ir.text import print_module
from synth.lowering.report import StructureReport, structure
from synth.lowering.vnni import default_lowering
from synth.passes.trace import parse_trace, print_trace, replay
from synth.source import ReadOptions, Source
from tests.synth.passes.programs import SPEC, assert_same

HOST = """
extern "C" void entry(const float* A, const float* B, float* C{params}) {{
  float *dA, *dB, *dC;
  cudaMalloc(&dA, {a} * sizeof(float)); cudaMalloc(&dB, {b} * sizeof(float)); cudaMalloc(&dC, {c} * sizeof(float));
  cudaMemcpy(dA, A, {a} * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, {b} * sizeof(float), cudaMemcpyHostToDevice);
  {launch}
  cudaMemcpy(C, dC, {c} * sizeof(float), cudaMemcpyDeviceToHost);
}}
"""


def cuda(kernel: str, launch: str, a: str, b: str, c: str, params: str = "") -> Module:
    text = "#include <cuda_runtime.h>\n#include <math.h>\n" + kernel + HOST.format(launch=launch, a=a, b=b, c=c, params=params)
    return complete_params(read(Source(text, "cuda", "kernel.cu"), ReadOptions()).module)


def lowered(m: Module) -> tuple[Module, StructureReport]:
    """The lowered module, which computes the same and is replayed from its printed trace."""
    after, trace = default_lowering(m, SPEC)
    assert_same(m, after)
    assert structural_hash(replay(parse_trace(print_trace(trace)), m, SPEC)) == structural_hash(after)
    return after, structure(after)


GEMM = """
__global__ void gemm(const float* A, const float* B, float* C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < 10 && col < 20) {
    float acc = 0.0f;
    for (int k = 0; k < 6; ++k) acc += A[row * 6 + k] * B[k * 20 + col];
    C[row * 20 + col] = acc;
  }
}"""
GEMM_EARLY = """
__global__ void gemm(const float* A, const float* B, float* C) {
  int c = threadIdx.x + blockIdx.x * 8, r = threadIdx.y + blockIdx.y * 8;
  if (c >= 20 || r >= 10) return;
  float total = 0.0f;
  for (int i = 0; i < 6; i++) total = B[c + i * 20] * A[i + r * 6] + total;
  C[c + 20 * r] = total;
}"""
GEMM_POINTERS = """
__global__ void gemm(const float* A, const float* B, float* C) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= 200) return;
  const float* a = A + id / 20 * 6; const float* b = B + id % 20;
  float acc = 0.0f; int left = 6;
  while (left-- > 0) { acc += *a++ * *b; b += 20; }
  C[id] = acc;
}"""
GRID = "gemm<<<dim3(3, 2), dim3(8, 8)>>>(dA, dB, dC);"
SIZES = ("60", "120", "200")


@pytest.mark.parametrize(
    ("kernel", "launch"),
    [(GEMM, GRID), (GEMM_EARLY, GRID), (GEMM_POINTERS, "gemm<<<4, 64>>>(dA, dB, dC);")],
    ids=["plain", "early", "pointers"],
)
def test_gemm_is_parallel_over_rows_and_in_vectors_over_columns(kernel: str, launch: str) -> None:
    after, report = lowered(cuda(kernel, launch, *SIZES))
    assert len(report.parallel_loops) == 1 and report.lanes == 16
    text = print_module(after)
    assert text.count("math.fma<f32x16>") == 2  # 20 columns: one full vector and the remainder
    assert text.count("broadcast<16>(A[") == 2 and "make" not in text
    assert "max(" not in text and "min(" not in text and "reduce" not in text and "u32" not in text


def test_names_operand_order_and_early_returns_make_no_difference() -> None:
    one, two = (default_lowering(cuda(k, GRID, *SIZES), SPEC)[0] for k in (GEMM, GEMM_EARLY))
    assert structural_hash(one) == structural_hash(two)


def test_symbolic_sizes() -> None:
    kernel = """
    __global__ void scale(const float* A, const float* B, float* C, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) C[i] = A[i] * 2.0f + B[i];
    }"""
    text = (
        "#include <cuda_runtime.h>\n"
        + kernel
        + HOST.format(launch="scale<<<(n + 63) / 64, 64>>>(dA, dB, dC, n);", a="n", b="n", c="n", params=", int n")
    )
    m = complete_params(read(Source(text, "cuda", "kernel.cu"), ReadOptions()).module)
    after, trace = default_lowering(m, SPEC)
    report = structure(after)
    assert report.parallel_loops == report.vector_loops == ("i",)
    assert "let i.full = ((n:i32 / 16i32) * 16i32)" in print_module(after)
    assert "loop_fuse{outer=bx, inner=tx}" in print_trace(trace)


def test_grid_stride_loops_are_one_loop() -> None:
    kernel = """
    __global__ void add(const float* A, const float* B, float* C) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 100; i += gridDim.x * blockDim.x) C[i] = A[i] + B[i];
    }"""
    after, report = lowered(cuda(kernel, "add<<<2, 16>>>(dA, dB, dC);", "100", "100", "100"))
    assert report.parallel_loops == report.vector_loops == ("i",)
    assert "0i32..96i32 step 16i32" in print_module(after)


def test_a_flat_index_becomes_one_loop_per_dimension() -> None:
    kernel = """
    __global__ void pool(const float* A, const float* B, float* C) {
      int idx = blockIdx.x * blockDim.x + threadIdx.x;
      if (idx >= 2 * 3 * 16) return;
      int c = idx % 16, w = idx / 16 % 3, n = idx / 48;
      float m = -1e30f;
      for (int k = 0; k < 2; ++k) { float v = A[((n * 4) + w + k) * 16 + c]; if (v > m) m = v; }
      C[idx] = m;
    }"""
    after, report = lowered(cuda(kernel, "pool<<<2, 64>>>(dA, dB, dC);", "128", "1", "96"))
    assert report.lanes == 16 and report.parallel_loops
    assert "%" not in print_module(after) and "/" not in print_module(after)


def test_rows_stay_parallel_and_reductions_run_in_vectors() -> None:
    kernel = """
    __global__ void softmax(const float* A, const float* B, float* C) {
      int r = blockIdx.x * blockDim.x + threadIdx.x;
      if (r >= 6) return;
      float m = -INFINITY, s = 0.f;
      for (int i = 0; i < 32; ++i) m = fmaxf(m, A[r * 32 + i]);
      for (int i = 0; i < 32; ++i) { float e = expf(A[r * 32 + i] - m); C[r * 32 + i] = e; s += e; }
      for (int i = 0; i < 32; ++i) C[r * 32 + i] /= s;
    }"""
    after, report = lowered(cuda(kernel, "softmax<<<1, 8>>>(dA, dB, dC);", "192", "1", "192"))
    assert len(report.parallel_loops) == 1 and len(report.vector_loops) == 3
    assert len(re.findall(r"reduce\.", print_module(after))) == 2


def test_a_recurrence_over_columns_is_vectorised_over_rows() -> None:
    kernel = """
    __global__ void scan(const float* A, const float* B, float* C) {
      int r = blockIdx.x * blockDim.x + threadIdx.x;
      if (r >= 20) return;
      float x = 0.f;
      for (int i = 0; i < 6; ++i) { x = tanhf(x * 0.5f + A[i * 20 + r]); C[i * 20 + r] = x; }
    }"""
    _, report = lowered(cuda(kernel, "scan<<<1, 32>>>(dA, dB, dC);", "120", "1", "120"))
    assert report.lanes == 16 and not report.is_serial


def test_a_serial_program_stays_serial() -> None:
    kernel = """
    __global__ void prefix(const float* A, const float* B, float* C) {
      for (int i = 1; i < 20; ++i) C[i] = C[i - 1] * 0.5f + A[i];
    }"""
    text = (
        "#include <cuda_runtime.h>\n"
        + kernel
        + HOST.format(launch="prefix<<<1, 1>>>(dA, dB, dC);", a="20", b="1", c="20", params="").replace(
            "cudaMemcpy(dB", "cudaMemcpy(dC, C, 20 * sizeof(float), cudaMemcpyHostToDevice); cudaMemcpy(dB"
        )
    )
    _, report = lowered(complete_params(read(Source(text.replace("float* C)", "float* C)"), "cuda", "kernel.cu"), ReadOptions()).module))
    assert report.is_serial and report.serial_loops


def test_lowering_is_deterministic_and_fast() -> None:
    m = cuda(GEMM, GRID, *SIZES)
    started = time.monotonic()
    first, trace = default_lowering(m, SPEC)
    assert time.monotonic() - started < 5.0  # 0.3 s alone on the machine
    again, same = default_lowering(cuda(GEMM, GRID, *SIZES), SPEC)
    assert print_trace(trace) == print_trace(same)
    assert structural_hash(first) == structural_hash(again)
