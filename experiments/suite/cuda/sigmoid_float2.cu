// Sigmoid by the hyperbolic tangent, two elements a thread through float2, an odd last one alone.
#include <cuda_runtime.h>

#ifndef N
#define N 60
#endif

__device__ __forceinline__ float sigmoid_of(float v) { return 0.5f * tanhf(0.5f * v) + 0.5f; }

__global__ void sigmoid_pairs(const float* __restrict__ x, float* __restrict__ y) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < N) {
    const float2 v = *reinterpret_cast<const float2*>(x + i);
    *reinterpret_cast<float2*>(y + i) = make_float2(sigmoid_of(v.x), sigmoid_of(v.y));
  } else if (i < N) {
    y[i] = sigmoid_of(x[i]);
  }
}

extern "C" void sigmoid(const float* A, float* C) {
  const int threads = 64;
  const int pairs = (N + 1) / 2;
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * N);
  cudaMalloc(&y, sizeof(float) * N);
  cudaMemcpy(x, A, sizeof(float) * N, cudaMemcpyHostToDevice);
  sigmoid_pairs<<<(pairs + threads - 1) / threads, threads>>>(x, y);
  cudaMemcpy(C, y, sizeof(float) * N, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
