/* u8 image, s8 weights, s32 output: channels are innermost in both, 64 of them for each dpbusd. */
#include <immintrin.h>
#include <stdint.h>

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

#ifdef __cplusplus
extern "C"
#endif
void conv2d(const uint8_t *A, const int8_t *B, int32_t *C) {
#pragma omp parallel for
  for (int pixel = 0; pixel < BATCH * OUT * OUT; ++pixel) {
    const int n = pixel / (OUT * OUT);
    const int y = pixel / OUT % OUT;
    const int x = pixel % OUT;
    for (int o = 0; o < OUT_CHANNELS; ++o) {
      __m512i sum = _mm512_setzero_si512();
      for (int r = 0; r < KERNEL; ++r) {
        for (int s = 0; s < KERNEL; ++s) {
          const uint8_t *image = A + ((n * SIZE + y * STRIDE + r) * SIZE + x * STRIDE + s) * IN_CHANNELS;
          const int8_t *weight = B + ((o * KERNEL + r) * KERNEL + s) * IN_CHANNELS;
          for (int c = 0; c < IN_CHANNELS; c += 64) {
            const __mmask64 lanes = IN_CHANNELS - c >= 64 ? ~0ull : (1ull << (IN_CHANNELS - c)) - 1;
            sum = _mm512_dpbusd_epi32(sum, _mm512_maskz_loadu_epi8(lanes, image + c), _mm512_maskz_loadu_epi8(lanes, weight + c));
          }
        }
      }
      C[pixel * OUT_CHANNELS + o] = _mm512_reduce_add_epi32(sum);
    }
  }
}
