/* Every channel has a window of its own; stride 1, no padding, channels last. */
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

void depthwiseconv(const float *A, const float *B, float *C) {
  for (int i = 0; i < OUT; i++) {
    for (int j = 0; j < OUT; j++) {
      for (int c = 0; c < CHANNELS; c++) {
        float sum = 0;
        for (int a = 0; a < KERNEL; a++) {
          for (int b = 0; b < KERNEL; b++) {
            sum += A[((i + a) * SIZE + j + b) * CHANNELS + c] * B[(a * KERNEL + b) * CHANNELS + c];
          }
        }
        C[(i * OUT + j) * CHANNELS + c] = sum;
      }
    }
  }
}
