/* Vector maximum, exponentials and sum of a row, masked tails, OpenMP over the rows. */
#include <float.h>
#include <immintrin.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
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
void softmax(const float *A, float *C) {
#pragma omp parallel for
  for (int i = 0; i < ROWS; ++i) {
    const float *in = A + i * COLS;
    float *out = C + i * COLS;
    __m512 largest = _mm512_set1_ps(-FLT_MAX);
    for (int j = 0; j < COLS; j += 16) {
      const __mmask16 live = COLS - j >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (COLS - j)) - 1);
      largest = _mm512_mask_max_ps(largest, live, largest, _mm512_maskz_loadu_ps(live, in + j));
    }
    const __m512 maximum = _mm512_set1_ps(_mm512_reduce_max_ps(largest));
    __m512 total = _mm512_setzero_ps();
    for (int j = 0; j < COLS; j += 16) {
      const __mmask16 live = COLS - j >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (COLS - j)) - 1);
      const __m512 e = exp_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(live, in + j), maximum));
      _mm512_mask_storeu_ps(out + j, live, e);
      total = _mm512_mask_add_ps(total, live, total, e);
    }
    const __m512 scale = _mm512_set1_ps(1.0f / _mm512_reduce_add_ps(total));
    for (int j = 0; j < COLS; j += 16) {
      const __mmask16 live = COLS - j >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (COLS - j)) - 1);
      _mm512_mask_storeu_ps(out + j, live, _mm512_mul_ps(_mm512_maskz_loadu_ps(live, out + j), scale));
    }
  }
}
