/* Two-dimensional view through variable-length array types; sizes are parameters. */
void add(const float *A, const float *B, float *C, int rows, int cols) {
  const float(*a)[cols] = (const float(*)[cols])A;
  const float(*b)[cols] = (const float(*)[cols])B;
  float(*c)[cols] = (float(*)[cols])C;
#pragma omp parallel for
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) c[i][j] = a[i][j] + b[i][j];
  }
}
