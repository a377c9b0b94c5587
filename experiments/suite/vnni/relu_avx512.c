/* Two registers at a time, then one, then a masked tail. */
#include <immintrin.h>

#ifdef __cplusplus
extern "C"
#endif
void relu(const float *A, float *C, int n) {
  const __m512 zero = _mm512_setzero_ps();
  int i = 0;
  for (; i + 32 <= n; i += 32) {
    _mm512_storeu_ps(C + i, _mm512_max_ps(_mm512_loadu_ps(A + i), zero));
    _mm512_storeu_ps(C + i + 16, _mm512_max_ps(_mm512_loadu_ps(A + i + 16), zero));
  }
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(C + i, _mm512_max_ps(_mm512_loadu_ps(A + i), zero));
  if (i < n) {
    const __mmask16 tail = (__mmask16)((1u << (n - i)) - 1);
    _mm512_mask_storeu_ps(C + i, tail, _mm512_max_ps(_mm512_maskz_loadu_ps(tail, A + i), zero));
  }
}
