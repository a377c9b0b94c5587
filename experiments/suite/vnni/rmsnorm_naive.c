/* x / sqrt(mean(x^2) + eps) */
#include <math.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

void rmsnorm(const float *A, float *C) {
#pragma omp parallel for
  for (int i = 0; i < ROWS; i++) {
    float sum = 0.0f;
    for (int j = 0; j < COLS; j++) {
      sum += A[i * COLS + j] * A[i * COLS + j];
    }
    const float scale = 1.0f / sqrtf(sum / COLS + 1e-5f);
    for (int j = 0; j < COLS; j++) {
      C[i * COLS + j] = A[i * COLS + j] * scale;
    }
  }
}
