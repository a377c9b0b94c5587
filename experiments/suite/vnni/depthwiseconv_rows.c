/* One row of output at a time, tap by tap; sizes are parameters. */
#include <string.h>

void depthwiseconv(const float *restrict A, const float *restrict B, float *restrict C, int size, int kernel, int channels) {
  const int out = size - kernel + 1;
  memset(C, 0, sizeof(float) * out * out * channels);
#pragma omp parallel for
  for (int i = 0; i < out; i++) {
    for (int a = 0; a < kernel; a++) {
      for (int b = 0; b < kernel; b++) {
        const float *from = A + ((i + a) * size + b) * channels;
        const float *w = B + (a * kernel + b) * channels;
        float *to = C + i * out * channels;
        for (int j = 0; j < out; j++) {
          for (int c = 0; c < channels; c++) {
            to[j * channels + c] += from[j * channels + c] * w[c];
          }
        }
      }
    }
  }
}
