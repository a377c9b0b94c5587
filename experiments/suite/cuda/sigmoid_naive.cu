// Sigmoid, a thread for each element.
#include <cuda_runtime.h>
#include <math.h>

#ifndef N
#define N 4608
#endif

__device__ float logistic(float v) { return 1.0f / (1.0f + expf(-v)); }

__global__ void sigmoid_kernel(const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    y[i] = logistic(x[i]);
  }
}

extern "C" void sigmoid(const float* A, float* C) {
  float *x, *y;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc(&y, N * sizeof(float));
  cudaMemcpy(x, A, N * sizeof(float), cudaMemcpyHostToDevice);
  sigmoid_kernel<<<(N + 127) / 128, 128>>>(x, y);
  cudaMemcpy(C, y, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
