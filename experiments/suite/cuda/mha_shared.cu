// Attention over the heads: a block for each position, scores in shared memory, a softmax with the maximum taken off.
#include <cuda_runtime.h>
#include <float.h>
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

#define THREADS 128

__global__ void mha_shared(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O) {
  __shared__ float scores[HEADS][HEADS];
  const size_t base = (size_t)(blockIdx.y * SEQ + blockIdx.x) * HEADS * DIM;
  for (int t = threadIdx.x; t < HEADS * HEADS; t += THREADS) {
    const int i = t / HEADS, j = t % HEADS;
    float dot = 0.0f;
    for (int d = 0; d < DIM; ++d) dot += Q[base + i * DIM + d] * K[base + j * DIM + d];
    scores[i][j] = dot * (1.0f / sqrtf(DIM));
  }
  __syncthreads();
  if (threadIdx.x < HEADS) {
    float* row = scores[threadIdx.x];
    float peak = -FLT_MAX;
    for (int j = 0; j < HEADS; ++j) peak = fmaxf(peak, row[j]);
    float total = 0.0f;
    for (int j = 0; j < HEADS; ++j) {
      row[j] = expf(row[j] - peak);
      total += row[j];
    }
    for (int j = 0; j < HEADS; ++j) row[j] /= total;
  }
  __syncthreads();
  for (int t = threadIdx.x; t < HEADS * DIM; t += THREADS) {
    const int i = t / DIM, d = t % DIM;
    float acc = 0.0f;
    for (int j = 0; j < HEADS; ++j) acc += scores[i][j] * V[base + j * DIM + d];
    O[base + t] = acc;
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
  mha_shared<<<dim3(SEQ, BATCH), THREADS>>>(q, k, v, o);
  cudaMemcpy(O, o, bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
