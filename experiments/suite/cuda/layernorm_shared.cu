// Layer normalisation over the last axis: a block for each row, tree reductions in static shared memory.
#include <cuda_runtime.h>
#include <stdio.h>

#ifndef BATCH
#define BATCH 2
#endif
#ifndef SEQ
#define SEQ 8
#endif
#ifndef DIM
#define DIM 128
#endif
#define THREADS 64

#define CHECK(x)                                                      \
  if ((x) != cudaSuccess) {                                           \
    printf("CUDA error at line %d\n", __LINE__);                      \
    return;                                                           \
  }

__global__ void layernorm_shared(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                 float* __restrict__ y) {
  __shared__ float partial[THREADS];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * DIM;

  float s = 0.0f;
  for (int i = t; i < DIM; i += THREADS) s += row[i];
  partial[t] = s;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  const float mean = partial[0] / DIM;
  __syncthreads();

  s = 0.0f;
  for (int i = t; i < DIM; i += THREADS) {
    const float d = row[i] - mean;
    s += d * d;
  }
  partial[t] = s;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  const float inverse = 1.0f / (sqrtf(partial[0] / DIM) + 1e-5f);

  for (int i = t; i < DIM; i += THREADS) {
    y[blockIdx.x * DIM + i] = gamma[i] * ((row[i] - mean) * inverse) + beta[i];
  }
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C) {
  const size_t row_bytes = DIM * sizeof(float);
  const size_t bytes = BATCH * SEQ * row_bytes;
  float *x, *g, *b, *y;
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&g, row_bytes));
  CHECK(cudaMalloc(&b, row_bytes));
  CHECK(cudaMalloc(&y, bytes));
  CHECK(cudaMemcpy(x, A, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(g, gamma, row_bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, beta, row_bytes, cudaMemcpyHostToDevice));
  layernorm_shared<<<BATCH * SEQ, THREADS>>>(x, g, b, y);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(C, y, bytes, cudaMemcpyDeviceToHost));
  cudaFree(x);
  cudaFree(g);
  cudaFree(b);
  cudaFree(y);
}
