/* Four partial sums by hand, a scalar tail, OpenMP over the rows. */
#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

void gemv(const float *restrict A, const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int i = 0; i < M; ++i) {
    const float *a = &A[i * K];
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    for (; k + 3 < K; k += 4) {
      s0 += a[k] * x[k];
      s1 += a[k + 1] * x[k + 1];
      s2 += a[k + 2] * x[k + 2];
      s3 += a[k + 3] * x[k + 3];
    }
    for (; k < K; ++k) s0 += a[k] * x[k];
    y[i] = (s0 + s1) + (s2 + s3);
  }
}
