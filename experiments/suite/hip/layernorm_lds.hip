// A block for each row, a tree in LDS, the row kept in dynamic LDS.
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

#define BLOCK 64

__global__ void layernorm_block(const float* A, const float* gamma, const float* beta, float* C) {
  extern __shared__ float row[];
  __shared__ float tree[BLOCK];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int d = t; d < DIM; d += BLOCK) {
    row[d] = A[blockIdx.x * DIM + d];
    sum += row[d];
  }
  tree[t] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) tree[t] += tree[t + s];
    __syncthreads();
  }
  const float mean = tree[0] / DIM;
  __syncthreads();
  float squares = 0.0f;
  for (int d = t; d < DIM; d += BLOCK) squares += (row[d] - mean) * (row[d] - mean);
  tree[t] = squares;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) tree[t] += tree[t + s];
    __syncthreads();
  }
  const float deviation = sqrtf(tree[0] / DIM);
  for (int d = t; d < DIM; d += BLOCK) C[blockIdx.x * DIM + d] = gamma[d] * ((row[d] - mean) / (deviation + 1e-5f)) + beta[d];
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C) {
  float* dA;
  float* dGamma;
  float* dBeta;
  float* dC;
  hipMalloc(&dA, sizeof(float) * BATCH * SEQ * DIM);
  hipMalloc(&dGamma, sizeof(float) * DIM);
  hipMalloc(&dBeta, sizeof(float) * DIM);
  hipMalloc(&dC, sizeof(float) * BATCH * SEQ * DIM);
  hipMemcpy(dA, A, sizeof(float) * BATCH * SEQ * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dGamma, gamma, sizeof(float) * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dBeta, beta, sizeof(float) * DIM, hipMemcpyHostToDevice);
  layernorm_block<<<BATCH * SEQ, BLOCK, DIM * sizeof(float)>>>(dA, dGamma, dBeta, dC);
  hipMemcpy(C, dC, sizeof(float) * BATCH * SEQ * DIM, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dGamma);
  hipFree(dBeta);
  hipFree(dC);
}
