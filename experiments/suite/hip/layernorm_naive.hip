// One thread for each row; eps outside of the root.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 2
#endif
#ifndef SEQ
#define SEQ 8
#endif
#ifndef DIM
#define DIM 128
#endif

__global__ void layernorm_rows(const float* A, const float* gamma, const float* beta, float* C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= BATCH * SEQ) return;
  const float* x = A + row * DIM;
  float mean = 0.0f;
  for (int d = 0; d < DIM; ++d) mean += x[d];
  mean /= DIM;
  float variance = 0.0f;
  for (int d = 0; d < DIM; ++d) variance += (x[d] - mean) * (x[d] - mean);
  const float deviation = sqrtf(variance / DIM);
  for (int d = 0; d < DIM; ++d) C[row * DIM + d] = gamma[d] * (x[d] - mean) / (deviation + 1e-5f) + beta[d];
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C) {
  float* dA;
  float* dGamma;
  float* dBeta;
  float* dC;
  hipMalloc((void**)&dA, BATCH * SEQ * DIM * sizeof(float));
  hipMalloc((void**)&dGamma, DIM * sizeof(float));
  hipMalloc((void**)&dBeta, DIM * sizeof(float));
  hipMalloc((void**)&dC, BATCH * SEQ * DIM * sizeof(float));
  hipMemcpy(dA, A, BATCH * SEQ * DIM * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dGamma, gamma, DIM * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dBeta, beta, DIM * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(layernorm_rows, dim3((BATCH * SEQ + 63) / 64), dim3(64), 0, 0, dA, dGamma, dBeta, dC);
  hipMemcpy(C, dC, BATCH * SEQ * DIM * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dGamma);
  hipFree(dBeta);
  hipFree(dC);
}
