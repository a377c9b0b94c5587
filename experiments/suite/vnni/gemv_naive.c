/* y = A x, walking through the matrix with one pointer. */
#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

void gemv(const float *A, const float *x, float *y) {
  for (int i = 0; i < M; i++) {
    float sum = 0.0f;
    const float *v = x;
    for (int k = 0; k < K; k++) sum += *A++ * *v++;
    *y++ = sum;
  }
}
