// C[M,N] = A[M,K] * B[K,N], one thread for each element of C.
#include <hip/hip_runtime.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

__global__ void gemm_kernel(const float* A, const float* B, float* C) {
  int row = hipBlockIdx_y * hipBlockDim_y + hipThreadIdx_y;
  int col = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}

extern "C" void gemm(const float* A, const float* B, float* C) {
  float *dA, *dB, *dC;
  hipMalloc((void**)&dA, M * K * sizeof(float));
  hipMalloc((void**)&dB, K * N * sizeof(float));
  hipMalloc((void**)&dC, M * N * sizeof(float));
  hipMemcpy(dA, A, M * K * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, K * N * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(gemm_kernel, dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, 0, dA, dB, dC);
  hipMemcpy(C, dC, M * N * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
