/* Minima along the rows into a heap buffer, then down its columns. */
#include <math.h>
#include <stdlib.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SIZE
#define SIZE 32
#endif
#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

void minpool(const float *A, float *C) {
  float *rows = (float *)malloc(sizeof(float) * SIZE * OUT * CHANNELS);
  for (int n = 0; n < BATCH; ++n) {
#pragma omp parallel for
    for (int h = 0; h < SIZE; ++h) {
      for (int x = 0; x < OUT; ++x) {
        for (int c = 0; c < CHANNELS; ++c) {
          float least = INFINITY;
          for (int s = 0; s < KERNEL; ++s) least = fminf(least, A[((n * SIZE + h) * SIZE + x * STRIDE + s) * CHANNELS + c]);
          rows[(h * OUT + x) * CHANNELS + c] = least;
        }
      }
    }
#pragma omp parallel for
    for (int y = 0; y < OUT; ++y) {
      for (int i = 0; i < OUT * CHANNELS; ++i) {
        float least = rows[y * STRIDE * OUT * CHANNELS + i];
        for (int r = 1; r < KERNEL; ++r) least = fminf(least, rows[(y * STRIDE + r) * OUT * CHANNELS + i]);
        C[(n * OUT + y) * OUT * CHANNELS + i] = least;
      }
    }
  }
  free(rows);
}
