/* Comparisons give masks, masks blend the constants. */
#include <immintrin.h>

#ifdef __cplusplus
extern "C"
#endif
void sign(const float *A, float *C, int n) {
  const __m512 zero = _mm512_setzero_ps();
  const __m512 one = _mm512_set1_ps(1.0f);
  const __m512 minus = _mm512_set1_ps(-1.0f);
  for (int i = 0; i < n; i += 16) {
    const __mmask16 live = n - i >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (n - i)) - 1);
    const __m512 x = _mm512_maskz_loadu_ps(live, A + i);
    const __mmask16 positive = _mm512_cmp_ps_mask(x, zero, _CMP_GT_OQ);
    const __mmask16 negative = _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ);
    __m512 result = _mm512_mask_blend_ps(positive, zero, one);
    result = _mm512_mask_blend_ps(negative, result, minus);
    _mm512_mask_storeu_ps(C + i, live, result);
  }
}
