/* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
#include <math.h>

#ifndef N
#define N 4608
#endif

void gelu(const float *A, float *C) {
  for (int i = 0; i < N; i++) {
    const float x = A[i];
    C[i] = 0.5f * x * (1.0f + tanhf(sqrtf(2.0f / (float)M_PI) * (x + 0.044715f * x * x * x)));
  }
}
