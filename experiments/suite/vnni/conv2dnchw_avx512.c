/* The weights are turned to [tap][out channel] in a heap buffer; sixteen output channels in a register, stored through the stack. */
#include <immintrin.h>
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
#define TAPS (IN_CHANNELS * KERNEL * KERNEL)

#ifdef __cplusplus
extern "C"
#endif
void conv2dnchw(const float *A, const float *B, float *C) {
  float *turned = (float *)malloc(sizeof(float) * TAPS * OUT_CHANNELS);
  for (int o = 0; o < OUT_CHANNELS; ++o) {
    for (int t = 0; t < TAPS; ++t) turned[t * OUT_CHANNELS + o] = B[o * TAPS + t];
  }
#pragma omp parallel for collapse(2)
  for (int n = 0; n < BATCH; ++n) {
    for (int p = 0; p < OUT * OUT; ++p) {
      const float *image = A + n * IN_CHANNELS * SIZE * SIZE + p / OUT * STRIDE * SIZE + p % OUT * STRIDE;
      for (int o = 0; o < OUT_CHANNELS; o += 16) {
        const __mmask16 lanes = OUT_CHANNELS - o >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1 << (OUT_CHANNELS - o)) - 1);
        __m512 sum = _mm512_setzero_ps();
        for (int c = 0; c < IN_CHANNELS; ++c) {
          for (int r = 0; r < KERNEL; ++r) {
            for (int s = 0; s < KERNEL; ++s) {
              const __m512 value = _mm512_set1_ps(image[(c * SIZE + r) * SIZE + s]);
              const float *weights = turned + ((c * KERNEL + r) * KERNEL + s) * OUT_CHANNELS + o;
              sum = _mm512_fmadd_ps(value, _mm512_maskz_loadu_ps(lanes, weights), sum);
            }
          }
        }
        float values[16];
        _mm512_storeu_ps(values, sum);
        for (int i = 0; i < 16 && o + i < OUT_CHANNELS; ++i) C[(n * OUT_CHANNELS + o + i) * OUT * OUT + p] = values[i];
      }
    }
  }
  free(turned);
}
