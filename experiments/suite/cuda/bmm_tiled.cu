// Batched matrix product with shared tiles; the pointers move to the matrix of the block's batch.
#include <cuda_runtime.h>
#include <iostream>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 128
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

static inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) {
    std::cerr << what << ": " << cudaGetErrorString(code) << std::endl;
    std::exit(1);
  }
}

template <int TILE>
__global__ void bmm_shared(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float left[TILE * TILE];
  __shared__ float right[TILE * TILE];
  a += blockIdx.z * M * K;
  b += blockIdx.z * K * N;
  c += blockIdx.z * M * N;
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  const unsigned col = blockIdx.x * TILE + threadIdx.x;
  const unsigned here = threadIdx.y * TILE + threadIdx.x;
  float acc = 0.0f;
  for (unsigned base = 0; base < K; base += TILE) {
    left[here] = row < M && base + threadIdx.x < K ? a[row * K + base + threadIdx.x] : 0.0f;
    right[here] = base + threadIdx.y < K && col < N ? b[(base + threadIdx.y) * N + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) acc += left[threadIdx.y * TILE + i] * right[i * TILE + threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) c[row * N + col] = acc;
}

extern "C" void bmm(const float* A, const float* B, float* C) {
  constexpr int tile = 16;
  float *a, *b, *c;
  check(cudaMalloc(&a, sizeof(float) * BATCH * M * K), "cudaMalloc A");
  check(cudaMalloc(&b, sizeof(float) * BATCH * K * N), "cudaMalloc B");
  check(cudaMalloc(&c, sizeof(float) * BATCH * M * N), "cudaMalloc C");
  check(cudaMemcpy(a, A, sizeof(float) * BATCH * M * K, cudaMemcpyHostToDevice), "copy A");
  check(cudaMemcpy(b, B, sizeof(float) * BATCH * K * N, cudaMemcpyHostToDevice), "copy B");
  bmm_shared<tile><<<dim3((N + tile - 1) / tile, (M + tile - 1) / tile, BATCH), dim3(tile, tile)>>>(a, b, c);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(C, c, sizeof(float) * BATCH * M * N, cudaMemcpyDeviceToHost), "copy C");
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
