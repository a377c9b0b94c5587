/* Maximum and sum in one pass over a row: the sum is rescaled when the maximum grows. Sizes are parameters. */
#include <float.h>
#include <math.h>

void softmax(const float *restrict A, float *restrict C, int rows, int cols) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float *x = A + r * cols;
    float *y = C + r * cols;
    float maximum = -FLT_MAX, sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      const float larger = fmaxf(maximum, x[c]);
      sum = sum * expf(maximum - larger) + expf(x[c] - larger);
      maximum = larger;
    }
    const float inverse = 1.0f / sum;
    for (int c = 0; c < cols; ++c) y[c] = expf(x[c] - maximum) * inverse;
  }
}
