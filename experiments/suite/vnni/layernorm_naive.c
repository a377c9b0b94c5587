/* gamma (x - mean) / (deviation + eps) + beta, eps outside of the root. */
#include <math.h>

#ifndef BATCH
#define BATCH 2
#endif
#ifndef SEQ
#define SEQ 8
#endif
#ifndef DIM
#define DIM 128
#endif

void layernorm(const float *A, const float *gamma, const float *beta, float *C) {
  for (int b = 0; b < BATCH; b++) {
    for (int s = 0; s < SEQ; s++) {
      const int base = (b * SEQ + s) * DIM;
      float mean = 0.0f;
      for (int d = 0; d < DIM; d++) mean += A[base + d];
      mean /= DIM;
      float variance = 0.0f;
      for (int d = 0; d < DIM; d++) {
        const float diff = A[base + d] - mean;
        variance += diff * diff;
      }
      const float deviation = sqrtf(variance / DIM);
      for (int d = 0; d < DIM; d++) {
        C[base + d] = gamma[d] * (A[base + d] - mean) / (deviation + 1e-5f) + beta[d];
      }
    }
  }
}
