/* Whole registers, then a scalar tail, shared among OpenMP threads by blocks. */
#include <immintrin.h>

#ifndef N
#define N 4608
#endif

#ifdef __cplusplus
extern "C"
#endif
void add(const float *A, const float *B, float *C) {
#pragma omp parallel for
  for (int i = 0; i < N / 16; ++i) {
    const __m512 a = _mm512_loadu_ps(A + 16 * i);
    const __m512 b = _mm512_loadu_ps(B + 16 * i);
    _mm512_storeu_ps(C + 16 * i, _mm512_add_ps(a, b));
  }
  for (int i = N / 16 * 16; i < N; ++i) C[i] = A[i] + B[i];
}
