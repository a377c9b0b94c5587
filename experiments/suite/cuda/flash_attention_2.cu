// Flash attention 2, forward: a block for each tile of queries, a thread for each query; the output stays in registers until the end.
#include <cuda_runtime.h>
#include <math.h>

#ifndef BATCH
#define BATCH 8
#endif
#ifndef HEADS
#define HEADS 16
#endif
#ifndef SEQ
#define SEQ 1024
#endif
#ifndef DIM
#define DIM 32
#endif

#define BR 32
#define BC 16

__global__ void flash_forward_2(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                float* __restrict__ O) {
  __shared__ float Ks[BC][DIM];
  __shared__ float Vs[BC][DIM];
  const int head = blockIdx.y;
  const int row = blockIdx.x * BR + threadIdx.x;
  const float* q_base = Q + head * SEQ * DIM;
  const float* k_base = K + head * SEQ * DIM;
  const float* v_base = V + head * SEQ * DIM;
  const float scale = rsqrtf((float)DIM);
  float q[DIM];
  float acc[DIM];
  for (int d = 0; d < DIM; ++d) {
    q[d] = row < SEQ ? q_base[row * DIM + d] * scale : 0.0f;
    acc[d] = 0.0f;
  }
  float m = -INFINITY;
  float l = 0.0f;
  for (int start = 0; start < SEQ; start += BC) {
    __syncthreads();
    for (int t = threadIdx.x; t < BC * DIM; t += BR) {
      const int r = t / DIM, c = t % DIM;
      Ks[r][c] = start + r < SEQ ? k_base[(start + r) * DIM + c] : 0.0f;
      Vs[r][c] = start + r < SEQ ? v_base[(start + r) * DIM + c] : 0.0f;
    }
    __syncthreads();
    const int live = min(BC, SEQ - start);
    for (int j = 0; j < live; ++j) {
      float s = 0.0f;
      for (int d = 0; d < DIM; ++d) s += q[d] * Ks[j][d];
      const float m_new = fmaxf(m, s);
      const float correction = expf(m - m_new);
      const float p = expf(s - m_new);
      l = l * correction + p;
      for (int d = 0; d < DIM; ++d) acc[d] = acc[d] * correction + p * Vs[j][d];
      m = m_new;
    }
  }
  if (row < SEQ) {
    const float inv = 1.0f / l;
    for (int d = 0; d < DIM; ++d) O[head * SEQ * DIM + row * DIM + d] = acc[d] * inv;
  }
}

extern "C" void flash_attention(const float* Q, const float* K, const float* V, float* O) {
  const size_t bytes = sizeof(float) * BATCH * HEADS * SEQ * DIM;
  float *q, *k, *v, *o;
  cudaMalloc(&q, bytes);
  cudaMalloc(&k, bytes);
  cudaMalloc(&v, bytes);
  cudaMalloc(&o, bytes);
  cudaMemcpy(q, Q, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(k, K, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(v, V, bytes, cudaMemcpyHostToDevice);
  flash_forward_2<<<dim3((SEQ + BR - 1) / BR, BATCH * HEADS), BR>>>(q, k, v, o);
  cudaMemcpy(O, o, bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
