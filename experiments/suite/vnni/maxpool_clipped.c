/* The window's end is clipped to the image as in code that also pads; sizes are parameters. */
#include <math.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))

void maxpool(const float *A, float *C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
#pragma omp parallel for
  for (int n = 0; n < batch; ++n) {
    for (int y = 0; y < out; ++y) {
      const int top = y * stride, bottom = MIN(top + kernel, size);
      for (int x = 0; x < out; ++x) {
        const int left = x * stride, right = MIN(left + kernel, size);
        for (int c = 0; c < channels; ++c) {
          float best = A[((n * size + top) * size + left) * channels + c];
          for (int h = top; h < bottom; ++h) {
            for (int w = left; w < right; ++w) {
              best = fmaxf(best, A[((n * size + h) * size + w) * channels + c]);
            }
          }
          C[((n * out + y) * out + x) * channels + c] = best;
        }
      }
    }
  }
}
