/* 1 / (1 + exp(-x)) */
#include <math.h>

#ifndef N
#define N 4608
#endif

void sigmoid(const float *A, float *C) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    C[i] = 1.0f / (1.0f + expf(-A[i]));
  }
}
