"""C programs as launches on a GPU: what they compute, and how they are spread over blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.ir.grammar import Module
from synth.ir.hashing import structural_hash
from synth.lowering.to_gpu import bind_to_gpu
from synth.passes.trace import parse_trace, print_trace, replay
from tests.synth.passes.gpu.programs import GPU, agree, c_module, shapes
from tests.synth.passes.nests import LARGEST, nests

FEW = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
)


def on_gpu(text: str, *sizes: dict[str, int]) -> Module:
    """The program on the GPU: it computes the same, and comes again from its printed trace."""
    m = c_module(text)
    after, trace = bind_to_gpu(m, GPU)
    for scalars in sizes or ({},):
        agree(m, after, scalars)
    assert structural_hash(replay(parse_trace(print_trace(trace)), m, GPU)) == structural_hash(after)
    return after


@FEW
@given(m=nests(), seed=st.integers(0, 9))
def test_random_nests_compute_the_same_on_the_gpu(m: Module, seed: int) -> None:
    after, _ = bind_to_gpu(m, GPU)
    sizes = np.random.default_rng(seed).integers(0, LARGEST + 1, 2)
    agree(m, after, {"n": int(sizes[0]), "m": int(sizes[1])}, tolerance=1e-3, seed=seed)


def test_gemm_has_blocks_in_two_dimensions_and_contiguous_columns() -> None:
    m = on_gpu(
        "void f(const float* A, const float* B, float* C) { for (int i = 0; i < 20; i++) for (int j = 0; j < 40; j++) { float s = 0;"
        " for (int k = 0; k < 7; k++) s += A[i * 7 + k] * B[k * 40 + j]; C[i * 40 + j] = s; } }"
    )
    (shape,) = shapes(m)
    assert (shape["thread.x"], shape["thread.y"]) == (32, 8)
    assert (shape["block.x"], shape["block.y"]) == (2, 3)


def test_the_contiguous_loop_is_that_of_the_threads_even_if_it_is_outermost() -> None:
    m = on_gpu(
        "void f(const float* A, float* C) { for (int j = 0; j < 64; j++) for (int i = 0; i < 48; i++) C[i * 64 + j] = A[i * 64 + j]; }"
    )
    (shape,) = shapes(m)
    assert (shape["block.x"], shape["thread.x"]) == (2, 32)


PROGRAMS = {
    "time steps": "void f(float* A, float* B, int n) { for (int t = 0; t < 3; t++) { for (int i = 1; i < n - 1;"
    " i++) B[i] = A[i - 1] + A[i + 1];"
    " for (int i = 1; i < n - 1; i++) A[i] = B[i]; } }",
    "temporaries outside": "void f(const float* A, float* C, int n) { int i, j; float s; for (i = 0; i < n; i++) { s = 0;"
    " for (j = 0; j < 8; j++) s += A[i * 8 + j]; C[i] = s; } }",
    "openmp": "void f(const float* A, float* C, int n) { int i;\n#pragma omp parallel for\n for (i = 0; i < n; i++) { float s = 0;"
    "\n#pragma omp simd reduction(+:s)\n for (int j = 0; j < 8; j++) s += A[i * 8 + j]; C[i] = s; } }",
    "prefix sum": "void f(const float* A, float* C, int n) { float s = 0; for (int i = 0; i < n; i++) { s += A[i]; C[i] = s; } }",
    "triangle": "void f(const float* A, float* C, int n) { for (int i = 0; i < n; i++) for (int j = 0; j <= i;"
    " j++) C[i * n + j] = A[j] + A[i]; }",
    "four loops": "void f(const float* A, float* C) { for (int a = 0; a < 2; a++) for (int b = 0; b < 3; b++) for (int y = 0; y < 4; y++)"
    " for (int x = 0; x < 5; x++) C[((a * 3 + b) * 4 + y) * 5 + x] = A[(a * 4 + y) * 5 + x] * b; }",
    "transpose": "void f(const float* A, float* C, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n;"
    " j++) C[j * n + i] = A[i * n + j]; }",
    "pointers that walk": "void f(const float* A, float* C) { const float* end = A + 70; while (A < end) *C++ = fmaxf(*A++, 0.0f); }",
    "histogram": "void f(const int* A, int* C, int n) { for (int i = 0; i < n; i++) C[(unsigned)A[i] % 16u] += 1; }",
    "dot": "void f(const float* A, const float* B, float* C, int n) { float s = 0; for (int i = 0; i < n; i++) s += A[i] * B[i];"
    " C[0] = s; }",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    m = c_module(PROGRAMS[name])
    if any(p.sym.name == "n" for p in m.params):
        on_gpu(PROGRAMS[name], {"n": 0}, {"n": 1}, {"n": 12}, {"n": 33})
    else:
        on_gpu(PROGRAMS[name])
