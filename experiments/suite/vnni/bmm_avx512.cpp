// One row of a product at a time, 32 columns in two registers, then 16, then a masked tail; sizes are parameters.
#include <immintrin.h>

extern "C" void bmm(const float* __restrict A, const float* __restrict B, float* __restrict C, int batch, int m, int k, int n) {
#pragma omp parallel for collapse(2)
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < m; ++i) {
      const float* a = A + ((long)b * m + i) * k;
      const float* right = B + (long)b * k * n;
      float* out = C + ((long)b * m + i) * n;
      int j = 0;
      for (; j + 32 <= n; j += 32) {
        __m512 low = _mm512_setzero_ps(), high = _mm512_setzero_ps();
        for (int p = 0; p < k; ++p) {
          const __m512 value = _mm512_set1_ps(a[p]);
          low = _mm512_fmadd_ps(value, _mm512_loadu_ps(right + (long)p * n + j), low);
          high = _mm512_fmadd_ps(value, _mm512_loadu_ps(right + (long)p * n + j + 16), high);
        }
        _mm512_storeu_ps(out + j, low);
        _mm512_storeu_ps(out + j + 16, high);
      }
      for (; j < n; j += 16) {
        const int left = n - j;
        const __mmask16 mask = (__mmask16)(left >= 16 ? 0xFFFFu : (1u << left) - 1u);
        __m512 sum = _mm512_setzero_ps();
        for (int p = 0; p < k; ++p) {
          sum = _mm512_fmadd_ps(_mm512_set1_ps(a[p]), _mm512_maskz_loadu_ps(mask, right + (long)p * n + j), sum);
        }
        _mm512_mask_storeu_ps(out + j, mask, sum);
      }
    }
  }
}
