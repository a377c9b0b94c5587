/* The order batch, row, inner, column streams B and C along their rows. */
#include <string.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 128
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

void bmm(const float *restrict A, const float *restrict B, float *restrict C) {
#pragma omp parallel for
  for (int row = 0; row < BATCH * M; ++row) {
    const float *a = A + row * K;
    const float *b = B + row / M * K * N;
    float *c = C + row * N;
    memset(c, 0, sizeof(float) * N);
    for (int k = 0; k < K; ++k) {
#pragma omp simd
      for (int j = 0; j < N; ++j) c[j] += a[k] * b[k * N + j];
    }
  }
}
