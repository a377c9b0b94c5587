/* Four rows by sixteen columns of C in registers; the last columns under a mask, the last rows one by one. */
#include <immintrin.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

static inline void rows_of_four(const float *a, const float *B, float *c, int j, __mmask16 columns) {
  __m512 c0 = _mm512_setzero_ps();
  __m512 c1 = _mm512_setzero_ps();
  __m512 c2 = _mm512_setzero_ps();
  __m512 c3 = _mm512_setzero_ps();
  for (int k = 0; k < K; ++k) {
    const __m512 b = _mm512_maskz_loadu_ps(columns, B + k * N + j);
    c0 = _mm512_fmadd_ps(_mm512_set1_ps(a[k]), b, c0);
    c1 = _mm512_fmadd_ps(_mm512_set1_ps(a[K + k]), b, c1);
    c2 = _mm512_fmadd_ps(_mm512_set1_ps(a[2 * K + k]), b, c2);
    c3 = _mm512_fmadd_ps(_mm512_set1_ps(a[3 * K + k]), b, c3);
  }
  _mm512_mask_storeu_ps(c + j, columns, c0);
  _mm512_mask_storeu_ps(c + N + j, columns, c1);
  _mm512_mask_storeu_ps(c + 2 * N + j, columns, c2);
  _mm512_mask_storeu_ps(c + 3 * N + j, columns, c3);
}

static inline void row_of_one(const float *a, const float *B, float *c, int j, __mmask16 columns) {
  __m512 sum = _mm512_setzero_ps();
  for (int k = 0; k < K; ++k) {
    sum = _mm512_fmadd_ps(_mm512_set1_ps(a[k]), _mm512_maskz_loadu_ps(columns, B + k * N + j), sum);
  }
  _mm512_mask_storeu_ps(c + j, columns, sum);
}

#ifdef __cplusplus
extern "C"
#endif
void gemm(const float *A, const float *B, float *C) {
#pragma omp parallel for
  for (int i = 0; i < M / 4 * 4; i += 4) {
    for (int j = 0; j < N; j += 16) {
      const __mmask16 columns = (__mmask16)(N - j >= 16 ? 0xFFFF : (1u << (N - j)) - 1);
      rows_of_four(A + i * K, B, C + i * N, j, columns);
    }
  }
  for (int i = M / 4 * 4; i < M; ++i) {
    for (int j = 0; j < N; j += 16) {
      const __mmask16 columns = (__mmask16)(N - j >= 16 ? 0xFFFF : (1u << (N - j)) - 1);
      row_of_one(A + i * K, B, C + i * N, j, columns);
    }
  }
}
