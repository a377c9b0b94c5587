// Batched matrix product: all elements of all results in one grid-stride loop.
#include <cuda_runtime.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 128
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void bmm_all(const float* x, const float* y, float* z, int total) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < total; index += blockDim.x * gridDim.x) {
    const int column = index % N;
    const int row = (index / N) % M;
    const int batch = index / (M * N);
    const float* x_row = x + (batch * M + row) * K;
    const float* y_column = y + batch * K * N + column;
    float partial = 0.f;
#pragma unroll 4
    for (int k = 0; k < K; ++k) {
      partial += x_row[k] * y_column[k * N];
    }
    z[index] = partial;
  }
}

extern "C" void bmm(const float* A, const float* B, float* C) {
  const int total = BATCH * M * N;
  float *x, *y, *z;
  cudaMalloc(&x, BATCH * M * K * sizeof(float));
  cudaMalloc(&y, BATCH * K * N * sizeof(float));
  cudaMalloc(&z, total * sizeof(float));
  cudaMemcpy(x, A, BATCH * M * K * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(y, B, BATCH * K * N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(z, 0, total * sizeof(float));
  const int threads = 128;
  int blocks = CEIL_DIV(total, threads);
  if (blocks > 64) blocks = 64;
  bmm_all<<<blocks, threads>>>(x, y, z, total);
  cudaMemcpy(C, z, total * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(z);
}
