/* Sixteen sigmoids at a time, with a polynomial for the exponential. */
#include <immintrin.h>

#ifndef N
#define N 4608
#endif

/* exp: x = n ln 2 + r with abs(r) <= ln 2 / 2, a polynomial for exp(r), times 2^n put together from bits. */
static inline __m512 exp_ps(__m512 x) {
  x = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-87.0f)), _mm512_set1_ps(88.0f));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(1.0f / 720.0f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  const __m512i power = _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23);
  return _mm512_mul_ps(p, _mm512_castsi512_ps(power));
}

#ifdef __cplusplus
extern "C"
#endif
void sigmoid(const float *A, float *C) {
  const __m512 one = _mm512_set1_ps(1.0f);
  for (int i = 0; i < N; i += 16) {
    const __mmask16 live = N - i >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (N - i)) - 1);
    const __m512 x = _mm512_maskz_loadu_ps(live, A + i);
    const __m512 e = exp_ps(_mm512_sub_ps(_mm512_setzero_ps(), x));
    _mm512_mask_storeu_ps(C + i, live, _mm512_div_ps(one, _mm512_add_ps(one, e)));
  }
}
