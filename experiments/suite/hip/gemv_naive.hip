// One thread for each row.
#include "hip/hip_runtime.h"

#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

__global__ void gemv_rows(const float* A, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M) {
    y[i] = 0.0f;
    for (int k = 0; k < K; k++) y[i] += A[i * K + k] * x[k];
  }
}

extern "C" void gemv(const float* A, const float* x, float* y) {
  float *dA, *dx, *dy;
  hipMalloc((void**)&dA, M * K * sizeof(float));
  hipMalloc((void**)&dx, K * sizeof(float));
  hipMalloc((void**)&dy, M * sizeof(float));
  hipMemcpy(dA, A, M * K * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dx, x, K * sizeof(float), hipMemcpyHostToDevice);
  gemv_rows<<<(M + 63) / 64, 64>>>(dA, dx, dy);
  hipMemcpy(y, dy, M * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dx);
  hipFree(dy);
}
