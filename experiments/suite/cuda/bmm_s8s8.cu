// Batched C = A * B of signed bytes, a thread for each element of C, batches along z.
#include <cuda_runtime.h>

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

template <typename Left, typename Right, typename Sum>
__global__ void bmm_bytes(const Left* __restrict__ A, const Right* __restrict__ B, Sum* __restrict__ C) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int batch = blockIdx.z;
  if (row < M && col < N) {
    const Left* a = A + (batch * M + row) * K;
    const Right* b = B + batch * K * N + col;
    Sum sum = 0;
    for (int k = 0; k < K; ++k) sum += a[k] * b[k * N];
    C[(batch * M + row) * N + col] = sum;
  }
}

extern "C" void bmm(const signed char* A, const signed char* B, int* C) {
  signed char* dA;
  signed char* dB;
  int* dC;
  cudaMalloc(&dA, BATCH * M * K);
  cudaMalloc(&dB, BATCH * K * N);
  cudaMalloc(&dC, sizeof(int) * BATCH * M * N);
  cudaMemcpy(dA, A, BATCH * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, BATCH * K * N, cudaMemcpyHostToDevice);
  const dim3 threads(32, 8);
  const dim3 blocks((N + 31) / 32, (M + 7) / 8, BATCH);
  bmm_bytes<signed char, signed char, int><<<blocks, threads>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(int) * BATCH * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
