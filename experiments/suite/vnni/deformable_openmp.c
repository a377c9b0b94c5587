/* A thread for each query and head: the corner weights are computed once and whole rows of channels are added. Sizes are parameters. */
#include <math.h>
#include <stdint.h>

void deformable(const float *value, const int32_t *shapes, const int32_t *level_start, const float *locations, const float *weights,
                float *output, int batch, int pixels, int heads, int dim, int queries, int levels, int points) {
#pragma omp parallel for collapse(3)
  for (int n = 0; n < batch; ++n) {
    for (int q = 0; q < queries; ++q) {
      for (int m = 0; m < heads; ++m) {
        float *out = output + ((n * queries + q) * heads + m) * dim;
        for (int d = 0; d < dim; ++d) out[d] = 0.0f;
        for (int l = 0; l < levels; ++l) {
          const int h = shapes[2 * l], w = shapes[2 * l + 1];
          const float *level = value + (n * pixels + level_start[l]) * heads * dim + m * dim;
          for (int p = 0; p < points; ++p) {
            const int at = (((n * queries + q) * heads + m) * levels + l) * points + p;
            const float x = locations[2 * at] * w - 0.5f;
            const float y = locations[2 * at + 1] * h - 0.5f;
            if (x <= -1.0f || y <= -1.0f || x >= w || y >= h) continue;
            const int x0 = (int)floorf(x), y0 = (int)floorf(y);
            for (int corner = 0; corner < 4; ++corner) {
              const int r = y0 + corner / 2, c = x0 + corner % 2;
              if (r < 0 || r >= h || c < 0 || c >= w) continue;
              const float wy = corner / 2 ? y - y0 : 1.0f - (y - y0);
              const float wx = corner % 2 ? x - x0 : 1.0f - (x - x0);
              const float weight = weights[at] * wy * wx;
              const float *from = level + (r * w + c) * heads * dim;
              for (int d = 0; d < dim; ++d) out[d] += weight * from[d];
            }
          }
        }
      }
    }
  }
}
