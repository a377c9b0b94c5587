// C[M,N] = A[M,K] * B[K,N]; a thread computes a strip of four rows, kept in registers.
#include <cuda_runtime.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

constexpr int kRows = 4;
constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads) gemm_strip(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  const int col = blockIdx.x * kThreads + threadIdx.x;
  const int row0 = blockIdx.y * kRows;
  if (col >= N) return;

  float acc[kRows];
#pragma unroll
  for (int r = 0; r < kRows; r++) acc[r] = 0.f;

  for (int k = 0; k < K; k++) {
    const float right = __ldg(&b[k * N + col]);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      if (row0 + r < M) acc[r] = fmaf(a[(row0 + r) * K + k], right, acc[r]);
    }
  }

#pragma unroll
  for (int r = 0; r < kRows; r++) {
    if (row0 + r < M) c[(row0 + r) * N + col] = acc[r];
  }
}

extern "C" void gemm(const float* h_a, const float* h_b, float* h_c) {
  float *a, *b, *c;
  cudaMalloc(&a, sizeof(float) * M * K);
  cudaMalloc(&b, sizeof(float) * K * N);
  cudaMalloc(&c, sizeof(float) * M * N);
  cudaMemcpy(a, h_a, sizeof(float) * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h_b, sizeof(float) * K * N, cudaMemcpyHostToDevice);
  const dim3 grid((N + kThreads - 1) / kThreads, (M + kRows - 1) / kRows);
  gemm_strip<<<grid, kThreads>>>(a, b, c);
  cudaDeviceSynchronize();
  cudaMemcpy(h_c, c, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
  cudaFree(a); cudaFree(b); cudaFree(c);
}
