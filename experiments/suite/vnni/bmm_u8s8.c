/* u8 x s8 -> s32 for each batch: B is packed by 4 rows into one heap buffer that every batch uses again. */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 128
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

#define GROUPS ((K + 3) / 4)
#define WIDTH ((N + 15) / 16 * 16)

static void pack(const int8_t *b, int8_t *packed) {
  memset(packed, 0, GROUPS * WIDTH * 4);
  for (int k = 0; k < K; ++k) {
    for (int j = 0; j < N; ++j) packed[(k / 4 * WIDTH + j) * 4 + k % 4] = b[k * N + j];
  }
}

#ifdef __cplusplus
extern "C"
#endif
void bmm(const uint8_t *A, const int8_t *B, int32_t *C) {
  int8_t *packed = (int8_t *)malloc(GROUPS * WIDTH * 4);
  uint8_t row[GROUPS * 4];
  for (int batch = 0; batch < BATCH; ++batch) {
    pack(B + batch * K * N, packed);
    for (int i = 0; i < M; ++i) {
      for (int k = 0; k < GROUPS * 4; ++k) row[k] = k < K ? A[(batch * M + i) * K + k] : 0;
      for (int j = 0; j < N; j += 16) {
        __m512i sum = _mm512_setzero_si512();
        for (int g = 0; g < GROUPS; ++g) {
          const int four = (int)(row[4 * g] | (uint32_t)row[4 * g + 1] << 8 | (uint32_t)row[4 * g + 2] << 16 | (uint32_t)row[4 * g + 3] << 24);
          sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(four), _mm512_loadu_si512(packed + (g * WIDTH + j) * 4));
        }
        const __mmask16 mask = N - j < 16 ? (__mmask16)((1u << (N - j)) - 1) : (__mmask16)0xFFFF;
        _mm512_mask_storeu_epi32(C + (batch * M + i) * N + j, mask, sum);
      }
    }
  }
  free(packed);
}
