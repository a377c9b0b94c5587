// Sign by copysign for a length known at the call; each thread takes two elements half of the data apart.
#include <cuda_runtime.h>

__device__ float sign1(float v) { return v == 0.0f ? 0.0f : copysignf(1.0f, v); }

__global__ void sign_halves(const float* x, float* y, int n) {
  const int half = (n + 1) / 2;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) {
    y[i] = sign1(x[i]);
    if (i + half < n) y[i + half] = sign1(x[i + half]);
  }
}

extern "C" void sign(const float* A, float* C, int n) {
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, A, n * sizeof(float), cudaMemcpyHostToDevice);
  sign_halves<<<((n + 1) / 2 + 95) / 96, 96>>>(x, y, n);
  cudaMemcpy(C, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
