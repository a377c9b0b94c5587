// Elementwise sum of any type and length through a device function; grid-stride loop.
#include <cuda_runtime.h>

template <typename T>
__device__ inline T plus(const T& a, const T& b) {
  return a + b;
}

template <typename T, int UNROLL>
__global__ void add_grid(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int n) {
  const int stride = blockDim.x * gridDim.x * UNROLL;
  for (int base = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL; base < n; base += stride) {
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const int i = base + u;
      if (i < n) c[i] = plus(a[i], b[i]);
    }
  }
}

extern "C" void add(const float* A, const float* B, float* C, int n) {
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  cudaMemcpy(a, A, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, B, n * sizeof(float), cudaMemcpyHostToDevice);
  add_grid<float, 4><<<32, 64>>>(a, b, c, n);
  cudaMemcpy(C, c, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
