// Layer normalisation over the last axis: a warp for each row, several rows in a block.
#include <cuda_runtime.h>

#ifndef BATCH
#define BATCH 2
#endif
#ifndef SEQ
#define SEQ 8
#endif
#ifndef DIM
#define DIM 128
#endif

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int delta = 16; delta > 0; delta >>= 1) {
    v += __shfl_xor_sync(0xffffffffu, v, delta, 32);
  }
  return v;
}

__global__ void layernorm_warp(const float* x, const float* gamma, const float* beta, float* y, const float epsilon) {
  const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= BATCH * SEQ) return;
  const float* src = x + row * DIM;
  float* dst = y + row * DIM;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < DIM; i += warpSize) sum += src[i];
  const float mean = warp_sum(sum) * (1.0f / DIM);
  float squares = 0.0f;
  for (unsigned i = threadIdx.x; i < DIM; i += warpSize) squares += (src[i] - mean) * (src[i] - mean);
  const float deviation = sqrtf(warp_sum(squares) * (1.0f / DIM));
  for (unsigned i = threadIdx.x; i < DIM; i += warpSize) {
    dst[i] = (src[i] - mean) / (deviation + epsilon) * gamma[i] + beta[i];
  }
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C) {
  float *d_x, *d_gamma, *d_beta, *d_y;
  cudaMalloc((void**)&d_x, BATCH * SEQ * DIM * sizeof(float));
  cudaMalloc((void**)&d_gamma, DIM * sizeof(float));
  cudaMalloc((void**)&d_beta, DIM * sizeof(float));
  cudaMalloc((void**)&d_y, BATCH * SEQ * DIM * sizeof(float));
  cudaMemcpy(d_x, A, BATCH * SEQ * DIM * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, gamma, DIM * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, beta, DIM * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(32, 4);
  dim3 grid((BATCH * SEQ + block.y - 1) / block.y);
  layernorm_warp<<<grid, block>>>(d_x, d_gamma, d_beta, d_y, 1e-5f);
  cudaMemcpy(C, d_y, BATCH * SEQ * DIM * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_y);
}
