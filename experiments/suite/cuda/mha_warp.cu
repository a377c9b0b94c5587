// Attention over the heads: a warp for each query head, its dot products shuffled together, the softmax kept online.
#include <cuda_runtime.h>
#include <math.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SEQ
#define SEQ 2048
#endif
#ifndef HEADS
#define HEADS 12
#endif
#ifndef DIM
#define DIM 256
#endif

__device__ __forceinline__ float all_lanes_sum(float v) {
  for (int mask = 16; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
  return v;
}

__global__ void mha_warp(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O) {
  const int lane = threadIdx.x;
  const int head = threadIdx.y;
  const size_t base = (size_t)blockIdx.x * HEADS * DIM;
  const float* q = Q + base + head * DIM;
  float m = -INFINITY;
  float l = 0.0f;
  float out[(DIM + 31) / 32];
#pragma unroll
  for (int r = 0; r < (DIM + 31) / 32; ++r) out[r] = 0.0f;
  for (int j = 0; j < HEADS; ++j) {
    const float* k = K + base + j * DIM;
    float dot = 0.0f;
    for (int d = lane; d < DIM; d += 32) dot += q[d] * k[d];
    dot = all_lanes_sum(dot) * rsqrtf((float)DIM);
    const float m_new = fmaxf(m, dot);
    const float keep = expf(m - m_new);
    const float p = expf(dot - m_new);
    l = l * keep + p;
#pragma unroll
    for (int r = 0; r < (DIM + 31) / 32; ++r) {
      const int d = r * 32 + lane;
      if (d < DIM) out[r] = out[r] * keep + p * V[base + j * DIM + d];
    }
    m = m_new;
  }
#pragma unroll
  for (int r = 0; r < (DIM + 31) / 32; ++r) {
    const int d = r * 32 + lane;
    if (d < DIM) O[base + head * DIM + d] = out[r] / l;
  }
}

extern "C" void mha(const float* Q, const float* K, const float* V, float* O) {
  const size_t bytes = sizeof(float) * BATCH * SEQ * HEADS * DIM;
  float *q, *k, *v, *o;
  cudaMalloc(&q, bytes);
  cudaMalloc(&k, bytes);
  cudaMalloc(&v, bytes);
  cudaMalloc(&o, bytes);
  cudaMemcpy(q, Q, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(k, K, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(v, V, bytes, cudaMemcpyHostToDevice);
  mha_warp<<<BATCH * SEQ, dim3(32, HEADS)>>>(q, k, v, o);
  cudaMemcpy(O, o, bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
