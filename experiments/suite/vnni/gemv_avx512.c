/* Two accumulators of sixteen lanes for each row; the tail of a row is loaded under a mask. */
#include <immintrin.h>

#ifdef __cplusplus
extern "C"
#endif
void gemv(const float *A, const float *x, float *y, int m, int k) {
  const int whole = k / 32 * 32;
#pragma omp parallel for
  for (int i = 0; i < m; ++i) {
    const float *row = A + i * k;
    __m512 even = _mm512_setzero_ps();
    __m512 odd = _mm512_setzero_ps();
    int j = 0;
    for (; j < whole; j += 32) {
      even = _mm512_fmadd_ps(_mm512_loadu_ps(row + j), _mm512_loadu_ps(x + j), even);
      odd = _mm512_fmadd_ps(_mm512_loadu_ps(row + j + 16), _mm512_loadu_ps(x + j + 16), odd);
    }
    for (; j < k; j += 16) {
      const int left = k - j;
      const __mmask16 tail = (__mmask16)(left >= 16 ? 0xFFFF : (1 << left) - 1);
      even = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(tail, row + j), _mm512_maskz_loadu_ps(tail, x + j), even);
    }
    y[i] = _mm512_reduce_add_ps(_mm512_add_ps(even, odd));
  }
}
