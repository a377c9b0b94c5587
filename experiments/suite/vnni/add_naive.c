/* c = a + b */
#ifndef N
#define N 4608
#endif

void add(const float *A, const float *B, float *C) {
  int i;
  for (i = 0; i < N; i++) C[i] = A[i] + B[i];
}
