/* Sixteen channels in a register, the last ones under a mask. */
#include <float.h>
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
void maxpool(const float *A, float *C) {
#pragma omp parallel for collapse(3)
  for (int n = 0; n < BATCH; ++n) {
    for (int y = 0; y < OUT; ++y) {
      for (int x = 0; x < OUT; ++x) {
        const float *window = A + ((n * SIZE + y * STRIDE) * SIZE + x * STRIDE) * CHANNELS;
        float *out = C + ((n * OUT + y) * OUT + x) * CHANNELS;
        for (int c = 0; c < CHANNELS; c += 16) {
          const __mmask16 lanes = CHANNELS - c >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1 << (CHANNELS - c)) - 1);
          __m512 best = _mm512_set1_ps(-FLT_MAX);
          for (int r = 0; r < KERNEL; ++r) {
            for (int s = 0; s < KERNEL; ++s) {
              best = _mm512_max_ps(best, _mm512_maskz_loadu_ps(lanes, window + (r * SIZE + s) * CHANNELS + c));
            }
          }
          _mm512_mask_storeu_ps(out + c, lanes, best);
        }
      }
    }
  }
}
