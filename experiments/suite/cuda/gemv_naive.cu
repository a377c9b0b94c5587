// y = A * x, a thread for each row; x is read through the read-only cache.
#include <cuda_runtime.h>

#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

__global__ void gemv_rows(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * __ldg(&x[k]);
    }
    y[row] = sum;
  }
}

extern "C" void gemv(const float* A, const float* x, float* y) {
  float *dA, *dx, *dy;
  cudaMalloc(&dA, M * K * sizeof(float));
  cudaMalloc(&dx, K * sizeof(float));
  cudaMalloc(&dy, M * sizeof(float));
  cudaMemcpy(dA, A, M * K * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x, K * sizeof(float), cudaMemcpyHostToDevice);
  gemv_rows<<<(M + 63) / 64, 64>>>(dA, dx, dy);
  cudaMemcpy(y, dy, M * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dx);
  cudaFree(dy);
}
