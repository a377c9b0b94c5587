// Elementwise sum, one thread for each element.
#include <cuda_runtime.h>

#ifndef N
#define N 2304
#endif

__global__ void add_kernel(const float* a, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) c[i] = a[i] + b[i];
}

extern "C" void add(const float* A, const float* B, float* C) {
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, N * sizeof(float));
  cudaMalloc(&d_b, N * sizeof(float));
  cudaMalloc(&d_c, N * sizeof(float));
  cudaMemcpy(d_a, A, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, B, N * sizeof(float), cudaMemcpyHostToDevice);
  dim3 blockSize(256);
  dim3 numBlocks((N + 256 - 1) / 256);
  add_kernel<<<numBlocks, blockSize>>>(d_a, d_b, d_c);
  cudaMemcpy(C, d_c, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_c);
}
