// Sign of every element: -1, 0 or 1.
#include <cuda_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void sign_kernel(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    if (x[i] > 0.0f) {
      y[i] = 1.0f;
    } else if (x[i] < 0.0f) {
      y[i] = -1.0f;
    } else {
      y[i] = 0.0f;
    }
  }
}

extern "C" void sign(const float* A, float* C) {
  float *x, *y;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc(&y, N * sizeof(float));
  cudaMemcpy(x, A, N * sizeof(float), cudaMemcpyHostToDevice);
  sign_kernel<<<(N + 255) / 256, 256>>>(x, y);
  cudaMemcpy(C, y, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
