/* Cache-blocked matrix product, blocks of rows and columns shared among OpenMP threads; sizes are parameters. */
#define BM 32
#define BN 64
#define BK 64

static inline int smaller(int a, int b) { return a < b ? a : b; }

void gemm(const float *restrict A, const float *restrict B, float *restrict C, int m, int k, int n) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int ib = 0; ib < m; ib += BM) {
    for (int jb = 0; jb < n; jb += BN) {
      const int iend = smaller(ib + BM, m);
      const int jend = smaller(jb + BN, n);
      for (int i = ib; i < iend; ++i)
        for (int j = jb; j < jend; ++j) C[i * n + j] = 0.0f;
      for (int pb = 0; pb < k; pb += BK) {
        const int pend = smaller(pb + BK, k);
        for (int i = ib; i < iend; ++i) {
          for (int p = pb; p < pend; ++p) {
            const float a = A[i * k + p];
            for (int j = jb; j < jend; ++j) C[i * n + j] += a * B[p * n + j];
          }
        }
      }
    }
  }
}
