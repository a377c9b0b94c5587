// C = A * B of unsigned and signed bytes, summed in 32 bits: tiles of both in shared memory.
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef M
#define M 32
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif
#define TILE 16

__global__ void gemm_u8s8_tiled(const uint8_t* __restrict__ A, const int8_t* __restrict__ B, int32_t* __restrict__ C) {
  __shared__ uint8_t As[TILE][TILE];
  __shared__ int8_t Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;
  int32_t sum = 0;
  for (int t = 0; t < K; t += TILE) {
    As[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0;
    Bs[ty][tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += (int32_t)As[ty][k] * (int32_t)Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" void gemm(const uint8_t* A, const int8_t* B, int32_t* C) {
  uint8_t* dA;
  int8_t* dB;
  int32_t* dC;
  cudaMalloc(&dA, M * K);
  cudaMalloc(&dB, K * N);
  cudaMalloc(&dC, M * N * sizeof(int32_t));
  cudaMemcpy(dA, A, M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, K * N, cudaMemcpyHostToDevice);
  dim3 threads(TILE, TILE);
  dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm_u8s8_tiled<<<blocks, threads>>>(dA, dB, dC);
  cudaMemcpy(C, dC, M * N * sizeof(int32_t), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
