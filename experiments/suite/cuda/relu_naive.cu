// ReLU, a thread for each element.
#include <cuda_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void relu(const float* A, float* C) {
  float *x, *y;
  cudaMalloc((void**)&x, N * sizeof(float));
  cudaMalloc((void**)&y, N * sizeof(float));
  cudaMemcpy(x, A, N * sizeof(float), cudaMemcpyHostToDevice);
  relu_kernel<<<(N + 255) / 256, 256>>>(x, y, N);
  cudaMemcpy(C, y, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
