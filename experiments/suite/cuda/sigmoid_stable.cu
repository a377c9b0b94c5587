// Sigmoid that never overflows, for a length known at the call: the exponential of the negative magnitude only.
#include <cuda_runtime.h>

__global__ void sigmoid_stable(const float* x, float* y, unsigned int n) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  float e = expf(-fabsf(v));
  float r = __fdividef(1.0f, 1.0f + e);
  y[i] = v >= 0.0f ? r : e * r;
}

extern "C" void sigmoid(const float* A, float* C, int n) {
  float *x, *y;
  cudaMalloc((void**)&x, n * sizeof(float));
  cudaMalloc((void**)&y, n * sizeof(float));
  cudaMemcpy(x, A, n * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(256);
  dim3 grid((n + block.x - 1) / block.x);
  sigmoid_stable<<<grid, block>>>(x, y, n);
  cudaMemcpy(C, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
