// u8 x s8 -> s32, tiles of bytes in LDS.
#include <hip/hip_runtime.h>
#include <stdint.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif
#define TILE 16

__global__ void gemm_bytes(const uint8_t* A, const int8_t* B, int32_t* C) {
  __shared__ uint8_t a[TILE][TILE];
  __shared__ int8_t b[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  int32_t sum = 0;
  for (int k = 0; k < K; k += TILE) {
    a[threadIdx.y][threadIdx.x] = (row < M && k + threadIdx.x < K) ? A[row * K + k + threadIdx.x] : 0;
    b[threadIdx.y][threadIdx.x] = (k + threadIdx.y < K && col < N) ? B[(k + threadIdx.y) * N + col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += (int)a[threadIdx.y][i] * (int)b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" void gemm(const uint8_t* A, const int8_t* B, int32_t* C) {
  uint8_t* dA;
  int8_t* dB;
  int32_t* dC;
  hipMalloc(&dA, M * K);
  hipMalloc(&dB, K * N);
  hipMalloc(&dC, M * N * 4);
  hipMemcpy(dA, A, M * K, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, K * N, hipMemcpyHostToDevice);
  gemm_bytes<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE)>>>(dA, dB, dC);
  hipMemcpy(C, dC, M * N * 4, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
