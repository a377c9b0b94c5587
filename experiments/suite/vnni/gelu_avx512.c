/* x / (1 + exp(-2 u)) is x/2 (1 + tanh(u)); a polynomial for the exponential. */
#include <immintrin.h>

#ifndef N
#define N 4608
#endif

/* exp: x = n ln 2 + r with abs(r) <= ln 2 / 2, a polynomial for exp(r), and n added to the exponent bits. */
static inline __m512 exp_ps(__m512 x) {
  x = _mm512_max_ps(_mm512_min_ps(x, _mm512_set1_ps(88.0f)), _mm512_set1_ps(-87.0f));
  const __m512i n = _mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)));
  const __m512 whole = _mm512_cvtepi32_ps(n);
  __m512 r = _mm512_sub_ps(x, _mm512_mul_ps(whole, _mm512_set1_ps(0.693359375f)));
  r = _mm512_sub_ps(r, _mm512_mul_ps(whole, _mm512_set1_ps(-2.12194440e-4f)));
  __m512 p = _mm512_set1_ps(1.0f / 720.0f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
  p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r);
  p = _mm512_add_ps(p, _mm512_set1_ps(1.0f));
  const __m512i power = _mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23);
  return _mm512_mul_ps(p, _mm512_castsi512_ps(power));
}

static inline __m512 gelu_ps(__m512 x) {
  const __m512 square = _mm512_mul_ps(x, x);
  const __m512 cubic = _mm512_fmadd_ps(_mm512_mul_ps(square, x), _mm512_set1_ps(0.044715f), x);
  const __m512 e = exp_ps(_mm512_mul_ps(cubic, _mm512_set1_ps(-1.5957691216f)));
  return _mm512_div_ps(x, _mm512_add_ps(e, _mm512_set1_ps(1.0f)));
}

#ifdef __cplusplus
extern "C"
#endif
void gelu(const float *A, float *C) {
  int i = 0;
  for (; i <= N - 16; i += 16) {
    _mm512_storeu_ps(&C[i], gelu_ps(_mm512_loadu_ps(&A[i])));
  }
  if (i < N) {
    const __mmask16 tail = (__mmask16)((1 << (N - i)) - 1);
    _mm512_mask_storeu_ps(&C[i], tail, gelu_ps(_mm512_maskz_loadu_ps(tail, &A[i])));
  }
}
