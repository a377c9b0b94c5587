#include <immintrin.h>
#include <math.h>
extern "C" __m512 _ZGVeN16v_expf(__m512);
static inline float lane_f32x16(__m512 v, int l) { float lanes[16]; _mm512_storeu_ps(lanes, v); return lanes[l]; }
extern "C" void f(const float *x, float *y, const int *k, int *o, int n) {
  int i = 0;
  #pragma omp parallel for
  for (int b = 0; b < n / 16; ++b) {
    __m512 acc = _mm512_setzero_ps();
    acc = _mm512_fmadd_ps(_mm512_loadu_ps(&x[b * 16]), _mm512_set1_ps(2.0f), acc);
    const __m512 e = _ZGVeN16v_expf(acc);
    const __mmask16 m = _mm512_cmp_ps_mask(e, _mm512_set1_ps(1.0f), _CMP_LT_OQ);
    _mm512_storeu_ps(&y[b * 16], _mm512_mask_blend_ps(m, e, acc));
    __m512i q = _mm512_add_epi32(_mm512_loadu_si512(&k[b*16]), _mm512_set1_epi32(3));
    _mm512_storeu_si512(&o[b*16], q);
    if (m == 0xffff) o[0] = (int)_mm512_reduce_add_ps(acc) + lane_f32x16(e, 3);
    _mm512_mask_storeu_ps(&y[b*16], (__mmask16)(m & (__mmask16)0x00ff), e);
  }
  __mmask16 t = (__mmask16)((1u << (n % 16)) - 1);
  _mm512_mask_storeu_ps(y, t, _mm512_maskz_loadu_ps(t, x));
}
