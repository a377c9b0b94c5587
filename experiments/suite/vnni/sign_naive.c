/* -1, 0 or 1 */
#ifndef N
#define N 4608
#endif

void sign(const float *A, float *C) {
  for (int i = 0; i < N; i++) {
    if (A[i] > 0)
      C[i] = 1;
    else if (A[i] < 0)
      C[i] = -1;
    else
      C[i] = 0;
  }
}
