// GELU, tanh form, one thread for each element.
#include <cuda_runtime.h>
#include <math.h>

#ifndef N
#define N 4608
#endif

__global__ void gelu_kernel(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)));
  }
}

extern "C" void gelu(const float* A, float* C) {
  float *d_x, *d_y;
  cudaMalloc(&d_x, N * sizeof(float));
  cudaMalloc(&d_y, N * sizeof(float));
  cudaMemcpy(d_x, A, N * sizeof(float), cudaMemcpyHostToDevice);
  gelu_kernel<<<(N + 255) / 256, 256>>>(d_x, d_y);
  cudaMemcpy(C, d_y, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_y);
}
