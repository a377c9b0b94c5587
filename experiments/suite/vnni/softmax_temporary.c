/* Exponentials go through a heap row that all rows use in turn. */
#include <math.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

void softmax(const float *A, float *C) {
  float *row = (float *)malloc(COLS * sizeof(float));
  for (int i = 0; i < ROWS; ++i, A += COLS, C += COLS) {
    float peak = A[0];
    for (int j = 1; j < COLS; ++j) peak = peak < A[j] ? A[j] : peak;
    float total = 0.0f;
    for (int j = 0; j < COLS; ++j) total += row[j] = expf(A[j] - peak);
    for (int j = 0; j < COLS; ++j) C[j] = row[j] / total;
  }
  free(row);
}
