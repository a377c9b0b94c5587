/* u8 x s8 -> s32: both operands are turned to channels-last, padded to a multiple of 64 channels, so that dpbusd runs along them. */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 128
#endif
#ifndef OUT_CHANNELS
#define OUT_CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 2
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)
#define PADDED ((IN_CHANNELS + 63) / 64 * 64)

#ifdef __cplusplus
extern "C"
#endif
void conv2dnchw(const uint8_t *A, const int8_t *B, int32_t *C) {
  uint8_t *image = (uint8_t *)calloc(BATCH * SIZE * SIZE, PADDED);
  int8_t *weight = (int8_t *)calloc(OUT_CHANNELS * KERNEL * KERNEL, PADDED);
  for (int n = 0; n < BATCH; ++n)
    for (int c = 0; c < IN_CHANNELS; ++c)
      for (int p = 0; p < SIZE * SIZE; ++p) image[(n * SIZE * SIZE + p) * PADDED + c] = A[(n * IN_CHANNELS + c) * SIZE * SIZE + p];
  for (int o = 0; o < OUT_CHANNELS; ++o)
    for (int c = 0; c < IN_CHANNELS; ++c)
      for (int t = 0; t < KERNEL * KERNEL; ++t) weight[(o * KERNEL * KERNEL + t) * PADDED + c] = B[(o * IN_CHANNELS + c) * KERNEL * KERNEL + t];
  for (int n = 0; n < BATCH; ++n) {
    for (int o = 0; o < OUT_CHANNELS; ++o) {
      for (int y = 0; y < OUT; ++y) {
        for (int x = 0; x < OUT; ++x) {
          __m512i sum = _mm512_setzero_si512();
          for (int r = 0; r < KERNEL; ++r) {
            for (int s = 0; s < KERNEL; ++s) {
              const uint8_t *a = image + ((n * SIZE + y * STRIDE + r) * SIZE + x * STRIDE + s) * PADDED;
              const int8_t *b = weight + ((o * KERNEL + r) * KERNEL + s) * PADDED;
              for (int c = 0; c < PADDED; c += 64) sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(a + c), _mm512_loadu_si512(b + c));
            }
          }
          C[((n * OUT_CHANNELS + o) * OUT + y) * OUT + x] = _mm512_reduce_add_epi32(sum);
        }
      }
    }
  }
  free(image);
  free(weight);
}
