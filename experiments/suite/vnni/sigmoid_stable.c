/* Never takes the exponential of a positive number; sizes are parameters. */
#include <math.h>

static float logistic(float x) {
  if (x >= 0.0f) {
    return 1.0f / (1.0f + expf(-x));
  }
  const float e = expf(x);
  return e / (1.0f + e);
}

void sigmoid(const float *A, float *C, int n) {
  for (int i = 0; i < n; ++i) C[i] = logistic(A[i]);
}
