/* The three taps are broadcast once; overlapping unaligned loads, a masked tail. */
#include <immintrin.h>

#ifdef __cplusplus
extern "C"
#endif
void conv1d(const float *x, const float *w, float *y, int out) {
  const __m512 w0 = _mm512_set1_ps(w[0]);
  const __m512 w1 = _mm512_set1_ps(w[1]);
  const __m512 w2 = _mm512_set1_ps(w[2]);
  for (int i = 0; i < out; i += 16) {
    const int left = out - i;
    const __mmask16 mask = left >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << left) - 1);
    __m512 sum = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), w0);
    sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, x + i + 1), w1, sum);
    sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, x + i + 2), w2, sum);
    _mm512_mask_storeu_ps(y + i, mask, sum);
  }
}
