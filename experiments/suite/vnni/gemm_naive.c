/* C[M,N] = A[M,K] * B[K,N], the textbook loops. */
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
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < N; j++) {
      float sum = 0.0f;
      for (int k = 0; k < K; k++) {
        sum += A[i * K + k] * B[k * N + j];
      }
      C[i * N + j] = sum;
    }
  }
}
