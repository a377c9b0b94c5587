/* A thread for each position and head with its own row of scores; the maximum is taken off. Sizes are parameters. */
#include <float.h>
#include <math.h>

#define MAX_HEADS 64

void mha(const float *restrict Q, const float *restrict K, const float *restrict V, float *restrict O, int batch, int seq, int heads, int dim) {
  const float scale = 1.0f / sqrtf((float)dim);
#pragma omp parallel for collapse(2)
  for (int p = 0; p < batch * seq; ++p) {
    for (int i = 0; i < heads; ++i) {
      const float *q = Q + (p * heads + i) * dim;
      const float *keys = K + p * heads * dim;
      const float *values = V + p * heads * dim;
      float *o = O + (p * heads + i) * dim;
      float weight[MAX_HEADS];
      float peak = -FLT_MAX, sum = 0.0f;
      for (int j = 0; j < heads; ++j) {
        float dot = 0.0f;
        for (int d = 0; d < dim; ++d) dot += q[d] * keys[j * dim + d];
        weight[j] = dot * scale;
        peak = fmaxf(peak, weight[j]);
      }
      for (int j = 0; j < heads; ++j) {
        weight[j] = expf(weight[j] - peak);
        sum += weight[j];
      }
      for (int d = 0; d < dim; ++d) o[d] = 0.0f;
      for (int j = 0; j < heads; ++j) {
        const float w = weight[j] / sum;
        for (int d = 0; d < dim; ++d) o[d] += w * values[j * dim + d];
      }
    }
  }
}
