// max(x, 0)
#include <hip/hip_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void relu_kernel(const float* A, float* C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] > 0 ? A[i] : 0;
}

extern "C" void relu(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc((void**)&dA, N * sizeof(float));
  hipMalloc((void**)&dC, N * sizeof(float));
  hipMemcpy(dA, A, N * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(relu_kernel, dim3((N + 255) / 256), dim3(256), 0, 0, dA, dC);
  hipMemcpy(C, dC, N * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
