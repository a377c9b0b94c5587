/* im2col into a heap buffer, then a matrix product with the weights; sizes are parameters. */
#include <stdlib.h>
#include <string.h>

static int side(int size, int kernel, int stride) { return (size - kernel) / stride + 1; }

void conv2d(const float *A, const float *B, float *C, int batch, int size, int in_channels, int out_channels, int kernel, int stride) {
  const int out = side(size, kernel, stride);
  const int rows = batch * out * out;
  const int depth = kernel * kernel * in_channels;
  float *columns = (float *)malloc((size_t)rows * depth * sizeof(float));

#pragma omp parallel for collapse(2)
  for (int n = 0; n < batch; ++n) {
    for (int p = 0; p < out * out; ++p) {
      float *to = columns + (n * out * out + p) * depth;
      for (int kh = 0; kh < kernel; ++kh) {
        const float *from = A + ((n * size + p / out * stride + kh) * size + p % out * stride) * in_channels;
        memcpy(to + kh * kernel * in_channels, from, sizeof(float) * kernel * in_channels);
      }
    }
  }
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    for (int o = 0; o < out_channels; ++o) {
      float sum = 0.0f;
      for (int d = 0; d < depth; ++d) sum += columns[r * depth + d] * B[o * depth + d];
      C[r * out_channels + o] = sum;
    }
  }
  free(columns);
}
