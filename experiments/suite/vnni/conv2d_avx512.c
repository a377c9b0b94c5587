/* A dot product over the channels of each tap, sixteen lanes at a time. */
#include <immintrin.h>

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

static inline float dot(const float *a, const float *b, int count) {
  __m512 sum = _mm512_setzero_ps();
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    sum = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), sum);
  }
  if (i < count) {
    const __mmask16 tail = (__mmask16)((1 << (count - i)) - 1);
    sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(tail, a + i), _mm512_maskz_loadu_ps(tail, b + i), sum);
  }
  return _mm512_reduce_add_ps(sum);
}

#ifdef __cplusplus
extern "C"
#endif
void conv2d(const float *A, const float *B, float *C) {
#pragma omp parallel for collapse(3)
  for (int n = 0; n < BATCH; ++n) {
    for (int y = 0; y < OUT; ++y) {
      for (int x = 0; x < OUT; ++x) {
        for (int o = 0; o < OUT_CHANNELS; ++o) {
          float total = 0.0f;
          for (int r = 0; r < KERNEL; ++r) {
            const float *image = A + ((n * SIZE + y * STRIDE + r) * SIZE + x * STRIDE) * IN_CHANNELS;
            total += dot(image, B + (o * KERNEL + r) * KERNEL * IN_CHANNELS, KERNEL * IN_CHANNELS);
          }
          C[((n * OUT + y) * OUT + x) * OUT_CHANNELS + o] = total;
        }
      }
    }
  }
}
