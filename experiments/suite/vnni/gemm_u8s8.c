/* u8 x s8 -> s32 with dpbusd: B is packed so that four values of K of one column lie side by side, padded with zeros. */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

#define K4 ((K + 3) / 4)
#define N16 ((N + 15) / 16 * 16)

#ifdef __cplusplus
extern "C"
#endif
void gemm(const uint8_t *A, const int8_t *B, int32_t *C) {
  int8_t *packed = (int8_t *)malloc(K4 * N16 * 4);
  for (int k = 0; k < K4; ++k) {
    for (int j = 0; j < N16; ++j) {
      for (int r = 0; r < 4; ++r) {
        packed[(k * N16 + j) * 4 + r] = (k * 4 + r < K && j < N) ? B[(k * 4 + r) * N + j] : (int8_t)0;
      }
    }
  }
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; j += 16) {
      __m512i sum = _mm512_setzero_si512();
      for (int k = 0; k < K4; ++k) {
        uint32_t four = 0;
        for (int r = 0; r < 4; ++r) {
          const uint32_t a = k * 4 + r < K ? A[i * K + k * 4 + r] : 0;
          four |= a << (8 * r);
        }
        const __m512i b = _mm512_loadu_si512(packed + (k * N16 + j) * 4);
        sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi32((int)four), b);
      }
      const __mmask16 columns = (__mmask16)(N - j >= 16 ? 0xFFFF : (1 << (N - j)) - 1);
      _mm512_mask_storeu_epi32(C + i * N + j, columns, sum);
    }
  }
  free(packed);
}
