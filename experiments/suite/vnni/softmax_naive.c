/* Softmax of every row in three loops. */
#include <math.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

void softmax(const float *A, float *C) {
  for (int i = 0; i < ROWS; i++) {
    float maximum = A[i * COLS];
    for (int j = 1; j < COLS; j++) {
      if (A[i * COLS + j] > maximum) maximum = A[i * COLS + j];
    }
    float sum = 0.0f;
    for (int j = 0; j < COLS; j++) {
      C[i * COLS + j] = expf(A[i * COLS + j] - maximum);
      sum += C[i * COLS + j];
    }
    for (int j = 0; j < COLS; j++) {
      C[i * COLS + j] /= sum;
    }
  }
}
