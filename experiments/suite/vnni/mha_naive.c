/* Attention over the heads of each position: scores, softmax, weighted sum. */
#include <math.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SEQ
#define SEQ 2048
#endif
#ifndef HEADS
#define HEADS 12
#endif
#ifndef DIM
#define DIM 256
#endif

void mha(const float *Q, const float *K, const float *V, float *O) {
  float score[HEADS][HEADS];
  for (int b = 0; b < BATCH; b++) {
    for (int s = 0; s < SEQ; s++) {
      const int base = (b * SEQ + s) * HEADS * DIM;
      for (int i = 0; i < HEADS; i++) {
        for (int j = 0; j < HEADS; j++) {
          score[i][j] = 0.0f;
          for (int d = 0; d < DIM; d++) {
            score[i][j] += Q[base + i * DIM + d] * K[base + j * DIM + d];
          }
          score[i][j] /= sqrtf((float)DIM);
        }
      }
      for (int i = 0; i < HEADS; i++) {
        float sum = 0.0f;
        for (int j = 0; j < HEADS; j++) {
          score[i][j] = expf(score[i][j]);
          sum += score[i][j];
        }
        for (int j = 0; j < HEADS; j++) score[i][j] /= sum;
      }
      for (int i = 0; i < HEADS; i++) {
        for (int d = 0; d < DIM; d++) {
          float sum = 0.0f;
          for (int j = 0; j < HEADS; j++) sum += score[i][j] * V[base + j * DIM + d];
          O[base + i * DIM + d] = sum;
        }
      }
    }
  }
}
