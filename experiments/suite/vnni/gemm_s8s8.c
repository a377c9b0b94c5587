/* s8 x s8 -> s32 on an instruction that takes u8 x s8: A is shifted by 128 and 128 times the column sums of B is taken off again. */
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

#define K4 ((K + 3) / 4 * 4)
#define BLOCKS ((N + 15) / 16)

#ifdef __cplusplus
extern "C"
#endif
void gemm(const int8_t *A, const int8_t *B, int32_t *C) {
  int8_t *packed = (int8_t *)calloc(BLOCKS * K4 * 16, 1);
  int32_t *offsets = (int32_t *)calloc(BLOCKS * 16, sizeof(int32_t));
  uint8_t *shifted = (uint8_t *)malloc(M * K4);
  for (int k = 0; k < K; ++k) {
    for (int j = 0; j < N; ++j) {
      packed[(j / 16 * K4 + k / 4 * 4) * 16 + j % 16 * 4 + k % 4] = B[k * N + j];
      offsets[j] += 128 * B[k * N + j];
    }
  }
  for (int i = 0; i < M; ++i) {
    for (int k = 0; k < K4; ++k) shifted[i * K4 + k] = k < K ? (uint8_t)(A[i * K + k] + 128) : 0;
  }
#pragma omp parallel for collapse(2)
  for (int i = 0; i < M; ++i) {
    for (int block = 0; block < BLOCKS; ++block) {
      __m512i sum = _mm512_setzero_si512();
      for (int k = 0; k < K4; k += 4) {
        const uint8_t *a = shifted + i * K4 + k;
        const int four = a[0] | a[1] << 8 | a[2] << 16 | (int)((unsigned)a[3] << 24);
        const __m512i b = _mm512_loadu_si512(packed + (block * K4 + k) * 16);
        sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(four), b);
      }
      sum = _mm512_sub_epi32(sum, _mm512_loadu_si512(offsets + block * 16));
      const int left = N - block * 16;
      const __mmask16 columns = (__mmask16)(left >= 16 ? 0xFFFF : (1 << left) - 1);
      _mm512_mask_storeu_epi32(C + i * N + block * 16, columns, sum);
    }
  }
  free(packed);
  free(offsets);
  free(shifted);
}
