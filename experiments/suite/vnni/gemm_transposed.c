/* B is transposed into a heap temporary so that both operands are read along their rows. */
#include <stdlib.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

void gemm(const float *A, const float *B, float *C) {
  float *bt = (float *)malloc(sizeof(float) * N * K);
  for (int k = 0; k < K; ++k) {
    for (int j = 0; j < N; ++j) {
      bt[j * K + k] = B[k * N + j];
    }
  }
#pragma omp parallel for
  for (int i = 0; i < M; ++i) {
    const float *row = A + i * K;
    for (int j = 0; j < N; ++j) {
      const float *column = bt + j * K;
      float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
      for (int k = 0; k < K; ++k) {
        sum += row[k] * column[k];
      }
      C[i * N + j] = sum;
    }
  }
  free(bt);
}
