// 1 / (1 + exp(-x))
#include <hip/hip_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void sigmoid_kernel(const float* A, float* C) {
  const int i = hipBlockDim_x * hipBlockIdx_x + hipThreadIdx_x;
  if (i < N) C[i] = 1.0f / (1.0f + expf(-A[i]));
}

extern "C" void sigmoid(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc((void**)&dA, N * sizeof(float));
  hipMalloc((void**)&dC, N * sizeof(float));
  hipMemcpy(dA, A, N * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(sigmoid_kernel, dim3((N + 255) / 256), dim3(256), 0, 0, dA, dC);
  hipMemcpy(C, dC, N * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
