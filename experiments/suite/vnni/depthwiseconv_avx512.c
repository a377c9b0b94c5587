/* Sixteen channels in a register; what is left over goes through scalar code. */
#include <immintrin.h>

#ifndef SIZE
#define SIZE 32
#endif
#ifndef KERNEL
#define KERNEL 3
#endif
#ifndef CHANNELS
#define CHANNELS 128
#endif
#define OUT (SIZE - KERNEL + 1)

#ifdef __cplusplus
extern "C"
#endif
void depthwiseconv(const float *A, const float *B, float *C) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < OUT; ++i) {
    for (int j = 0; j < OUT; ++j) {
      const float *image = A + (i * SIZE + j) * CHANNELS;
      float *out = C + (i * OUT + j) * CHANNELS;
      int c = 0;
      for (; c + 16 <= CHANNELS; c += 16) {
        __m512 sum = _mm512_setzero_ps();
        for (int a = 0; a < KERNEL; ++a) {
          for (int b = 0; b < KERNEL; ++b) {
            const __m512 x = _mm512_loadu_ps(image + (a * SIZE + b) * CHANNELS + c);
            const __m512 w = _mm512_loadu_ps(B + (a * KERNEL + b) * CHANNELS + c);
            sum = _mm512_fmadd_ps(x, w, sum);
          }
        }
        _mm512_storeu_ps(out + c, sum);
      }
      for (; c < CHANNELS; ++c) {
        float sum = 0.0f;
        for (int a = 0; a < KERNEL; ++a)
          for (int b = 0; b < KERNEL; ++b) sum += image[(a * SIZE + b) * CHANNELS + c] * B[(a * KERNEL + b) * CHANNELS + c];
        out[c] = sum;
      }
    }
  }
}
