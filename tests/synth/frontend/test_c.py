"""C and C++ sources: OpenMP pragmas, heap temporaries, AVX-512 intrinsics."""

from __future__ import annotations

import numpy as np
import pytest

from synth.errors import UnsupportedError, UsageError
from synth.ir.grammar import Axis, Const, DType, For, Role
from synth.ir.text import print_expr, print_module
from synth.ir.traversal import walk


def axes(module):
    return {s.sym.name: s.axis for s in walk(module.body) if isinstance(s, For)}


def floats(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


SOFTMAX = """
#include <cmath>
#include <algorithm>
#include <vector>
static inline float shifted(float x, float m) { return std::exp(x - m); }
extern "C" int softmax(const float *x, float *y, int rows, int cols) {
  if (rows < 0 || cols <= 0) return 1;
  std::vector<float> largest(rows);
#pragma omp parallel for schedule(static) num_threads(4)
  for (int r = 0; r < rows; ++r) {
    float m = -INFINITY;
    #pragma omp simd reduction(max : m)
    for (int c = 0; c < cols; ++c) m = std::max(m, x[r * cols + c]);
    largest[r] = m;
  }
  float *sums = new float[rows]();
  #pragma omp parallel for collapse(2) \\
      default(shared)
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) y[i * cols + j] = shifted(x[i * cols + j], largest[i]);
  for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) sums[i] += y[i * cols + j];
  for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) y[i * cols + j] /= sums[i];
  delete[] sums;
  return 0;
}
"""


def test_plain_loops_with_openmp_run(c, execute):
    read = c(SOFTMAX)
    module = read.module
    assert (module.dialect, module.result) == ("vnni", Const(0, DType.I32))
    assert [print_expr(e) for e in module.assumes] == ["((rows:i32 >= 0i32) && (cols:i32 > 0i32))"]
    found = axes(module)
    assert (found["r"], found["c"]) == (Axis.OMP, Axis.SIMD)
    x, y = floats(15), np.zeros(15, np.float32)
    execute(module, x=x, y=y, rows=3, cols=5)
    e = np.exp(x.reshape(3, 5) - x.reshape(3, 5).max(1, keepdims=True))
    np.testing.assert_allclose(y, (e / e.sum(1, keepdims=True)).ravel(), rtol=1e-5)


def test_collapse_binds_the_outer_loops_of_the_nest(c):
    loops = [s for s in walk(c(SOFTMAX).module.body) if isinstance(s, For)]
    bound = [(s.sym.name, s.axis) for s in loops if s.axis is Axis.OMP]
    assert bound == [("r", Axis.OMP), ("i", Axis.OMP), ("j", Axis.OMP)]


def test_a_parallel_region_of_shared_loops(c):
    module = c("""
void f(float *x, int n) {
#pragma omp parallel
  {
    #pragma omp for nowait
    for (int i = 0; i < n; i++) x[i] += 1;
    #pragma omp for simd simdlen(16) // both
    for (int j = 0; j < n; j++) x[j] *= 2;
  }
}
""").module
    assert axes(module) == {"i": Axis.OMP, "j": Axis.OMP}


def test_directives_under_conditions(c):
    text = """
void f(float *x, int n) {
#ifdef _OPENMP
#pragma omp parallel for
#endif
  for (int i = 0; i < n; i++) x[i] += 1;
#if 0
#pragma omp parallel for
#endif
  for (int j = 0; j < n; j++) x[j] += 1;
}
"""
    read = c(text)
    assert axes(read.module) == {"i": Axis.OMP, "j": None}
    assert any("under a preprocessor condition" in d.message for d in read.diagnostics)


@pytest.mark.parametrize(
    ("pragma", "what"),
    [
        ("#pragma omp critical", "directive 'critical'"),
        ("#pragma omp parallel for collapse(2)", "not perfectly nested"),
        ("#pragma omp target teams distribute parallel for", "directive 'target teams distribute"),
    ],
)
def test_other_directives_are_refused(c, pragma, what):
    with pytest.raises(UnsupportedError, match="OpenMP") as caught:
        c(f"void f(float *x, int n) {{\n{pragma}\nfor (int i = 0; i < n; i++) x[i] += 1;\n}}")
    assert what in caught.value.message
    assert caught.value.location.line == 2


def test_unknown_clauses_are_noted(c):
    read = c("void f(float *x, int n) {\n#pragma omp parallel for proc_bind(close)\nfor (int i = 0; i < n; i++) x[i] += 1;\n}")
    assert [d.message for d in read.diagnostics] == ["OpenMP clause 'proc_bind' is ignored"]


def test_c_files_are_read_as_c(c, execute):
    text = """
#include <stdlib.h>
#include <math.h>
void f(const float *restrict x, float *restrict y, int n) {
  float *t = malloc(n * sizeof *t);
  for (int i = 0; i < n; i++) t[i] = sqrtf(x[i]);
  for (int i = n - 1; i >= 0; --i) y[i] = t[i];
  free(t);
}
"""
    module = c(text, "f.c").module
    assert [p.role for p in module.params] == [Role.IN, Role.OUT, Role.UNKNOWN]
    x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    execute(module, x=x, y=y, n=5)
    np.testing.assert_allclose(y, np.sqrt(x), rtol=1e-6)


def test_memory_functions(c, execute):
    module = c("""
#include <cstring>
#include <cstdlib>
#include <algorithm>
extern "C" void f(const int *x, int *y, int n) {
  int *t = (int *)calloc(n, sizeof(int));
  memcpy(t + 1, x, (n - 1) * sizeof(int));
  memset(y, -1, n * 4);
  std::copy(t, t + n / 2, y);
  free(t);
}
""").module
    x, y = np.arange(10, 18, dtype=np.int32), np.zeros(8, np.int32)
    execute(module, x=x, y=y, n=8)
    np.testing.assert_array_equal(y, [0, 10, 11, 12, -1, -1, -1, -1])


VECTORS = """
#include <immintrin.h>
#include <math.h>
extern "C" __m512 _ZGVeN16v_expf(__m512);
static inline float lane_f32x16(__m512 v, int l) { float lanes[16]; _mm512_storeu_ps(lanes, v); return lanes[l]; }
extern "C" void f(const float *x, float *y, const int *k, int *o, int n) {
#pragma omp parallel for
  for (int b = 0; b < n / 16; ++b) {
    __m512 acc = _mm512_setzero_ps();
    acc = _mm512_fmadd_ps(_mm512_loadu_ps(&x[b * 16]), _mm512_set1_ps(2.0f), acc);
    const __m512 e = _ZGVeN16v_expf(acc);
    const __mmask16 m = _mm512_cmp_ps_mask(e, _mm512_set1_ps(1.0f), _CMP_LT_OQ);
    _mm512_storeu_ps(&y[b * 16], _mm512_mask_blend_ps(m, e, acc));
    __m512i q = _mm512_add_epi32(_mm512_loadu_si512(&k[b * 16]), _mm512_set1_epi32(3));
    _mm512_storeu_si512(&o[b * 16], q);
    if (m == 0xffff) o[b * 16] = -1;
    if (b == 1) o[17] = (int)(100 * _mm512_reduce_max_ps(acc)) + (int)lane_f32x16(e, 3);
  }
  const int left = n % 16;
  const __mmask16 t = (__mmask16)((1u << left) - 1);
  const __mmask16 odd = (__mmask16)(t & (__mmask16)0xaaaa);
  _mm512_mask_storeu_ps(y + n - left, odd, _mm512_maskz_loadu_ps(t, x + n - left));
}
"""


def test_intrinsics_mean_what_the_table_says(c, execute):
    module = c(VECTORS).module
    assert "_mm512" not in print_module(module)
    n = 37
    x, y = floats(n), np.full(n, 9, np.float32)
    k, o = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    execute(module, x=x, y=y, k=k, o=o, n=n)
    e = np.exp(np.float32(2) * x)
    wanted = np.where(e < 1, 2 * x, e)
    wanted[32:] = [x[i] if i % 2 else 9 for i in range(32, 37)]
    np.testing.assert_allclose(y, wanted, rtol=1e-5)
    expected = np.where(np.arange(n) < 32, k + 3, 0)
    expected[17] = int(np.float32(100) * (2 * x[16:32]).max()) + int(e[19])
    np.testing.assert_array_equal(o, expected)


def test_masks_become_bools_and_back(c, execute):
    module = c("""
#include <immintrin.h>
extern "C" void f(const int *x, unsigned *o) {
  __mmask16 m = _mm512_cmp_epi32_mask(_mm512_loadu_si512(x), _mm512_set1_epi32(7), _MM_CMPINT_LE);
  o[0] = m; o[1] = (__mmask16)~m; o[2] = m >> 3 & 1; o[3] = (m & 0xff) == 0xff; o[4] = m != 0;
}
""").module
    x, o = np.arange(16, dtype=np.int32), np.zeros(5, np.uint32)
    execute(module, x=x, o=o)
    np.testing.assert_array_equal(o, [0xFF, 0xFF00, 1, 1, 1])


def test_unknown_intrinsics_are_refused_by_name(c):
    compare = "_mm512_cmp_ps_mask(_mm512_setzero_ps(), _mm512_setzero_ps(), 7)"
    text = f"#include <immintrin.h>\nvoid f(float *x) {{\n if ({compare} == 0) *x = 1;\n}}"
    with pytest.raises(UnsupportedError, match="_mm512_cmp_ps_mask' with the immediate 7"):
        c(text)


def test_the_entry_of_a_c_file(c):
    two = "static float twice(float x) { return 2 * x; }\nvoid f(float *x) { *x = twice(*x); }\nint main() { float x; f(&x); }"
    assert c(two).module.name == "f"
    with pytest.raises(UsageError, match=r"several functions could be the entry: 'f' .line 1., 'g' .line 2."):
        c("void f(float *x) { *x = 1; }\nvoid g(float *x) { *x = 2; }")
    with pytest.raises(UsageError, match="'main' cannot be the entry"):
        c(two, entry="main")
    with pytest.raises(UsageError, match="--launch is for GPU kernels"):
        from synth.source import LaunchShape

        c(two, launch=LaunchShape((1, 1, 1), (1, 1, 1)))


def test_masks_are_masks_in_a_file_called_c_too(c, execute):
    text = """
#include <immintrin.h>
#ifdef __cplusplus
extern "C"
#endif
void head(const float *x, float *y) {
  const int lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const __mmask16 m = _mm512_cmp_epi32_mask(_mm512_loadu_si512(lanes), _mm512_set1_epi32(5), _MM_CMPINT_LT);
  _mm512_mask_storeu_ps(y, m, _mm512_maskz_loadu_ps(m, x));
}
"""
    x, y = floats(16), np.zeros(16, np.float32)
    execute(c(text, "head.c", extents={"x": "16", "y": "16"}).module, x=x, y=y)
    assert np.array_equal(y[:5], x[:5]) and not y[5:].any()


def test_bytes_of_either_sign_under_masks_and_their_dot_products(c, execute):
    module = c("""
#include <immintrin.h>
#include <stdint.h>
extern "C" void f(const uint8_t *a, const int8_t *b, int32_t *o, uint8_t *u) {
  const __mmask64 bytes = (1ull << 37) - 1;
  const __m512i left = _mm512_maskz_loadu_epi8(bytes, a), right = _mm512_maskz_loadu_epi8(bytes, b);
  o[0] = _mm512_reduce_add_epi32(_mm512_dpbusd_epi32(_mm512_set1_epi32(1), left, right));
  _mm512_mask_storeu_epi8(u, bytes, left);
}
""").module
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, 64).astype(np.uint8), rng.integers(-128, 128, 64).astype(np.int8)
    o, u = np.zeros(1, np.int32), np.full(64, 7, np.uint8)
    execute(module, a=a, b=b, o=o, u=u)
    assert o[0] == 16 + int(a[:37].astype(int) @ b[:37].astype(int))
    assert np.array_equal(u[:37], a[:37]) and (u[37:] == 7).all()
