// Attention over the heads of each position: a thread for each query head keeps its row of scores; no maximum is subtracted.
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

__global__ void mha_naive(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= BATCH * SEQ * HEADS) return;
  const int i = id % HEADS;
  const int base = (id / HEADS) * HEADS * DIM;
  float score[HEADS];
  float sum = 0.0f;
  for (int j = 0; j < HEADS; ++j) {
    float dot = 0.0f;
    for (int d = 0; d < DIM; ++d) dot += Q[base + i * DIM + d] * K[base + j * DIM + d];
    score[j] = expf(dot / sqrtf((float)DIM));
    sum += score[j];
  }
  for (int d = 0; d < DIM; ++d) {
    float acc = 0.0f;
    for (int j = 0; j < HEADS; ++j) acc += score[j] * V[base + j * DIM + d];
    O[base + i * DIM + d] = acc / sum;
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
  mha_naive<<<(BATCH * SEQ * HEADS + 63) / 64, 64>>>(q, k, v, o);
  cudaMemcpy(O, o, bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
