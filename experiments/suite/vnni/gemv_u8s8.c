/* u8 matrix by s8 vector: both are contiguous along K, so that one dpbusd takes 64 products; tails under a byte mask. */
#include <immintrin.h>
#include <stdint.h>

#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

#ifdef __cplusplus
extern "C"
#endif
void gemv(const uint8_t *A, const int8_t *x, int32_t *y) {
  for (int i = 0; i < M; ++i) {
    __m512i sum = _mm512_setzero_si512();
    for (int k = 0; k < K; k += 64) {
      const __mmask64 bytes = K - k >= 64 ? ~0ull : (1ull << (K - k)) - 1;
      const __m512i a = _mm512_maskz_loadu_epi8(bytes, A + i * K + k);
      const __m512i b = _mm512_maskz_loadu_epi8(bytes, x + k);
      sum = _mm512_dpbusd_epi32(sum, a, b);
    }
    y[i] = _mm512_reduce_add_epi32(sum);
  }
}
