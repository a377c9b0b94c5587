/* Smallest value of each window, NHWC. */
#include <math.h>

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

void minpool(const float *A, float *C) {
  for (int n = 0; n < BATCH; n++) {
    for (int oh = 0; oh < OUT; oh++) {
      for (int ow = 0; ow < OUT; ow++) {
        for (int c = 0; c < CHANNELS; c++) {
          float value = INFINITY;
          for (int kh = 0; kh < KERNEL; kh++) {
            for (int kw = 0; kw < KERNEL; kw++) {
              const float x = A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c];
              value = fminf(value, x);
            }
          }
          C[((n * OUT + oh) * OUT + ow) * CHANNELS + c] = value;
        }
      }
    }
  }
}
