/* Sums of sixteen channels, multiplied by the reciprocal of the window's area. */
#include <immintrin.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SIZE
#define SIZE 32
#endif
#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

#ifdef __cplusplus
extern "C"
#endif
void avgpool(const float *A, float *C) {
  const __m512 scale = _mm512_set1_ps(1.0f / (KERNEL * KERNEL));
#pragma omp parallel for collapse(2)
  for (int n = 0; n < BATCH; ++n) {
    for (int y = 0; y < OUT; ++y) {
      for (int x = 0; x < OUT; ++x) {
        for (int c = 0; c < CHANNELS; c += 16) {
          const int left = CHANNELS - c;
          const __mmask16 lanes = left < 16 ? (__mmask16)((1u << left) - 1) : (__mmask16)0xFFFF;
          const float *at = A + ((n * SIZE + y * STRIDE) * SIZE + x * STRIDE) * CHANNELS + c;
          __m512 sum = _mm512_setzero_ps();
          for (int r = 0; r < KERNEL; ++r, at += (SIZE - KERNEL) * CHANNELS) {
            for (int s = 0; s < KERNEL; ++s, at += CHANNELS) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes, at));
          }
          _mm512_mask_storeu_ps(C + ((n * OUT + y) * OUT + x) * CHANNELS + c, lanes, _mm512_mul_ps(sum, scale));
        }
      }
    }
  }
}
