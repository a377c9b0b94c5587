/* Four accumulators over 64 values, then a masked tail; sizes are parameters. */
#include <immintrin.h>
#include <math.h>

#ifdef __cplusplus
extern "C"
#endif
void rmsnorm(const float *A, float *C, int rows, int cols) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float *x = A + r * cols;
    float *y = C + r * cols;
    __m512 s0 = _mm512_setzero_ps(), s1 = _mm512_setzero_ps(), s2 = _mm512_setzero_ps(), s3 = _mm512_setzero_ps();
    int c = 0;
    for (; c + 64 <= cols; c += 64) {
      const __m512 x0 = _mm512_loadu_ps(x + c), x1 = _mm512_loadu_ps(x + c + 16);
      const __m512 x2 = _mm512_loadu_ps(x + c + 32), x3 = _mm512_loadu_ps(x + c + 48);
      s0 = _mm512_fmadd_ps(x0, x0, s0);
      s1 = _mm512_fmadd_ps(x1, x1, s1);
      s2 = _mm512_fmadd_ps(x2, x2, s2);
      s3 = _mm512_fmadd_ps(x3, x3, s3);
    }
    for (; c < cols; c += 16) {
      const __mmask16 live = cols - c >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (cols - c)) - 1);
      const __m512 tail = _mm512_maskz_loadu_ps(live, x + c);
      s0 = _mm512_fmadd_ps(tail, tail, s0);
    }
    const float total = _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
    const __m512 scale = _mm512_set1_ps(1.0f / sqrtf(total / (float)cols + 1e-5f));
    for (c = 0; c < cols; c += 16) {
      const __mmask16 live = cols - c >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (cols - c)) - 1);
      _mm512_mask_storeu_ps(y + c, live, _mm512_mul_ps(_mm512_maskz_loadu_ps(live, x + c), scale));
    }
  }
}
