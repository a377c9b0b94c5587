// Layer normalisation over the last axis in two launches: statistics of every row, then the elementwise part.
#include <cuda_runtime.h>
#include <cmath>

struct Stats {
  float mean;
  float scale;
};

__device__ Stats row_stats(const float* row, int dim) {
  Stats s;
  float total = 0.f;
  for (int i = 0; i < dim; ++i) total += row[i];
  s.mean = total / dim;
  float squares = 0.f;
  for (int i = 0; i < dim; ++i) squares += (row[i] - s.mean) * (row[i] - s.mean);
  s.scale = 1.f / (std::sqrt(squares / dim) + 1e-5f);
  return s;
}

__global__ void statistics(const float* x, float* means, float* scales, int rows, int dim) {
  int r = threadIdx.x + blockIdx.x * blockDim.x;
  if (r < rows) {
    const Stats s = row_stats(x + r * dim, dim);
    means[r] = s.mean;
    scales[r] = s.scale;
  }
}

__global__ void normalise(const float* x, const float* means, const float* scales, const float* gamma, const float* beta, float* y,
                          int dim) {
  int r = blockIdx.x;
  for (int i = threadIdx.x; i < dim; i += blockDim.x) {
    y[r * dim + i] = (x[r * dim + i] - means[r]) * scales[r] * gamma[i] + beta[i];
  }
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C, int rows, int dim) {
  float *x, *g, *b, *means, *scales, *y;
  cudaMalloc(&x, rows * dim * sizeof(float));
  cudaMalloc(&g, dim * sizeof(float));
  cudaMalloc(&b, dim * sizeof(float));
  cudaMalloc(&means, rows * sizeof(float));
  cudaMalloc(&scales, rows * sizeof(float));
  cudaMalloc(&y, rows * dim * sizeof(float));
  cudaMemcpy(x, A, rows * dim * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(g, gamma, dim * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, beta, dim * sizeof(float), cudaMemcpyHostToDevice);
  statistics<<<(rows + 31) / 32, 32>>>(x, means, scales, rows, dim);
  normalise<<<rows, 64>>>(x, means, scales, g, b, y, dim);
  cudaMemcpy(C, y, rows * dim * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(g);
  cudaFree(b);
  cudaFree(means);
  cudaFree(scales);
  cudaFree(y);
}
