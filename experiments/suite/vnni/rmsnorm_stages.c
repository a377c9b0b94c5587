/* The scales of all rows into a heap array, then the rows. */
#include <math.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

void rmsnorm(const float *restrict A, float *restrict C) {
  float *scales = (float *)malloc(sizeof(float) * ROWS);
#pragma omp parallel for
  for (int i = 0; i < ROWS; ++i) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < COLS; ++j) sum += A[i * COLS + j] * A[i * COLS + j];
    scales[i] = 1.0f / sqrtf(sum / COLS + 1e-5f);
  }
#pragma omp parallel for collapse(2)
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLS; ++j) C[i * COLS + j] = A[i * COLS + j] * scales[i];
  }
  free(scales);
}
