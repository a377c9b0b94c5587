// C = A * B of signed bytes by four-element dot products: columns of B are packed on the way. K is a multiple of four.
#include <cuda_runtime.h>

#ifndef M
#define M 32
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

__global__ void gemm_dp4a(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int* a = reinterpret_cast<const int*>(A + row * K);
  int acc = 0;
  for (int k = 0; k < K; k += 4) {
    const int b = (B[k * N + col] & 0xff) | (B[(k + 1) * N + col] & 0xff) << 8 | (B[(k + 2) * N + col] & 0xff) << 16 |
                  (B[(k + 3) * N + col] & 0xff) << 24;
    acc = __dp4a(a[k / 4], b, acc);
  }
  C[row * N + col] = acc;
}

extern "C" void gemm(const signed char* A, const signed char* B, int* C) {
  signed char *dA, *dB;
  int* dC;
  cudaMalloc((void**)&dA, M * K);
  cudaMalloc((void**)&dB, K * N);
  cudaMalloc((void**)&dC, sizeof(int) * M * N);
  cudaMemcpy(dA, A, M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, K * N, cudaMemcpyHostToDevice);
  gemm_dp4a<<<dim3((N + 31) / 32, (M + 3) / 4), dim3(32, 4)>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(int) * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
