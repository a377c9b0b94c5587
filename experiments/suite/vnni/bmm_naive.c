/* C[b] = A[b] * B[b] through pointers to rows. */
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

void bmm(const float *A, const float *B, float *C) {
  const float(*a)[M][K] = (const float(*)[M][K])A;
  const float(*b)[K][N] = (const float(*)[K][N])B;
  float(*c)[M][N] = (float(*)[M][N])C;
  for (int batch = 0; batch < BATCH; batch++) {
    for (int i = 0; i < M; i++) {
      for (int j = 0; j < N; j++) {
        c[batch][i][j] = 0;
        for (int k = 0; k < K; k++) c[batch][i][j] += a[batch][i][k] * b[batch][k][j];
      }
    }
  }
}
