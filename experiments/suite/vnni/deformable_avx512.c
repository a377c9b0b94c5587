/* Sixteen channels of a head in a register through all levels and points. */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef PIXELS
#define PIXELS 13101
#endif
#ifndef HEADS
#define HEADS 8
#endif
#ifndef DIM
#define DIM 256
#endif
#ifndef QUERIES
#define QUERIES 100
#endif
#ifndef LEVELS
#define LEVELS 4
#endif
#ifndef POINTS
#define POINTS 4
#endif

static inline __m512 row_of(const float *level, int height, int width, int row, int column, __mmask16 live) {
  const __mmask16 inside = row >= 0 && row < height && column >= 0 && column < width ? live : (__mmask16)0;
  const int at = row >= 0 && row < height && column >= 0 && column < width ? row * width + column : 0;
  return _mm512_maskz_loadu_ps(inside, level + at * HEADS * DIM);
}

#ifdef __cplusplus
extern "C"
#endif
void deformable(const float *value, const int32_t *shapes, const int32_t *level_start, const float *locations, const float *weights,
                float *output) {
#pragma omp parallel for
  for (int i = 0; i < BATCH * QUERIES * HEADS; ++i) {
    const int n = i / (QUERIES * HEADS);
    const int m = i % HEADS;
    for (int d = 0; d < DIM; d += 16) {
      const __mmask16 live = DIM - d >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (DIM - d)) - 1);
      __m512 sum = _mm512_setzero_ps();
      for (int l = 0; l < LEVELS; ++l) {
        const int height = shapes[2 * l], width = shapes[2 * l + 1];
        const float *level = value + ((n * PIXELS + level_start[l]) * HEADS + m) * DIM + d;
        for (int p = 0; p < POINTS; ++p) {
          const int at = (i * LEVELS + l) * POINTS + p;
          const float x = locations[2 * at] * width - 0.5f;
          const float y = locations[2 * at + 1] * height - 0.5f;
          const int left = (int)floorf(x), top = (int)floorf(y);
          const float right_part = x - left, low_part = y - top;
          const __m512 a = row_of(level, height, width, top, left, live);
          const __m512 b = row_of(level, height, width, top, left + 1, live);
          const __m512 c = row_of(level, height, width, top + 1, left, live);
          const __m512 e = row_of(level, height, width, top + 1, left + 1, live);
          const float weight = weights[at];
          sum = _mm512_fmadd_ps(_mm512_set1_ps(weight * (1 - low_part) * (1 - right_part)), a, sum);
          sum = _mm512_fmadd_ps(_mm512_set1_ps(weight * (1 - low_part) * right_part), b, sum);
          sum = _mm512_fmadd_ps(_mm512_set1_ps(weight * low_part * (1 - right_part)), c, sum);
          sum = _mm512_fmadd_ps(_mm512_set1_ps(weight * low_part * right_part), e, sum);
        }
      }
      _mm512_mask_storeu_ps(output + i * DIM + d, live, sum);
    }
  }
}
