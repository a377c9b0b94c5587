/* Multi-scale deformable attention: bilinear samples of every level, each weighted; corners outside of a level count as 0. */
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

static float corner(const float *value, int n, int first, int height, int width, int row, int column, int head, int d) {
  if (row < 0 || row >= height || column < 0 || column >= width) return 0.0f;
  return value[((n * PIXELS + first + row * width + column) * HEADS + head) * DIM + d];
}

void deformable(const float *value, const int32_t *shapes, const int32_t *level_start, const float *locations, const float *weights,
                float *output) {
  for (int n = 0; n < BATCH; n++) {
    for (int q = 0; q < QUERIES; q++) {
      for (int m = 0; m < HEADS; m++) {
        for (int d = 0; d < DIM; d++) {
          float sum = 0.0f;
          for (int l = 0; l < LEVELS; l++) {
            const int height = shapes[2 * l];
            const int width = shapes[2 * l + 1];
            for (int p = 0; p < POINTS; p++) {
              const int at = (((n * QUERIES + q) * HEADS + m) * LEVELS + l) * POINTS + p;
              const float x = locations[2 * at] * width - 0.5f;
              const float y = locations[2 * at + 1] * height - 0.5f;
              const int left = (int)floorf(x);
              const int top = (int)floorf(y);
              const float fx = x - left;
              const float fy = y - top;
              const float sample = (1 - fy) * (1 - fx) * corner(value, n, level_start[l], height, width, top, left, m, d) +
                                   (1 - fy) * fx * corner(value, n, level_start[l], height, width, top, left + 1, m, d) +
                                   fy * (1 - fx) * corner(value, n, level_start[l], height, width, top + 1, left, m, d) +
                                   fy * fx * corner(value, n, level_start[l], height, width, top + 1, left + 1, m, d);
              sum += weights[at] * sample;
            }
          }
          output[((n * QUERIES + q) * HEADS + m) * DIM + d] = sum;
        }
      }
    }
  }
}
