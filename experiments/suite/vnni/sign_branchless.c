/* The difference of two comparisons. */
#ifndef N
#define N 4608
#endif

void sign(const float *restrict A, float *restrict C) {
#pragma omp parallel for simd
  for (int i = 0; i < N; ++i) {
    const float x = A[i];
    C[i] = (float)((x > 0.0f) - (x < 0.0f));
  }
}
