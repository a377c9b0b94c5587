#include <cmath>
#include <vector>
#include <algorithm>
#include <cstring>
#include <cstdlib>
static inline float gelu(float x) { return 0.5f*x*(1.0f+std::tanh(0.7978845608f*(x+0.044715f*x*x*x))); }
extern "C" int softmax(const float *x, float *y, int rows, int cols) {
  if (rows < 0 || cols <= 0) return 1;
  float *tmp = (float*)malloc(sizeof(float)*cols);
  #pragma omp parallel for schedule(static) num_threads(4)
  for (int r = 0; r < rows; ++r) {
    float m = -INFINITY;
    #pragma omp simd reduction(max:m)
    for (int c = 0; c < cols; ++c) m = std::max(m, x[r*cols+c]);
    float s = 0;
    for (int c = 0; c < cols; ++c) { y[r*cols+c] = expf(x[r*cols+c]-m); s += y[r*cols+c]; }
    for (int c = 0; c < cols; ++c) y[r*cols+c] /= s;
  }
  free(tmp);
  #pragma omp parallel for collapse(2)
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) y[i*cols+j] = gelu(y[i*cols+j]);
  return 0;
}
