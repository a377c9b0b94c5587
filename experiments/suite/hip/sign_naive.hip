// -1, 0 or 1
#include <hip/hip_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void sign_kernel(const float* A, float* C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  if (A[i] > 0.0f) {
    C[i] = 1.0f;
  } else if (A[i] < 0.0f) {
    C[i] = -1.0f;
  } else {
    C[i] = 0.0f;
  }
}

extern "C" void sign(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * N);
  hipMalloc(&dC, sizeof(float) * N);
  hipMemcpy(dA, A, sizeof(float) * N, hipMemcpyHostToDevice);
  sign_kernel<<<(N + 255) / 256, 256>>>(dA, dC);
  hipMemcpy(C, dC, sizeof(float) * N, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
