// C = A * B in half with float sums, without tensor cores: pairs of rows of B through half2. N is even.
#include <cuda_fp16.h>
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

__global__ void gemm_half2(const __half* A, const __half* B, float* C) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (pair >= N / 2) return;
  float2 sum = make_float2(0.0f, 0.0f);
  for (int k = 0; k < K; ++k) {
    const float a = __half2float(A[row * K + k]);
    const float2 b = __half22float2(reinterpret_cast<const __half2*>(B + k * N)[pair]);
    sum.x += a * b.x;
    sum.y += a * b.y;
  }
  C[row * N + 2 * pair] = sum.x;
  C[row * N + 2 * pair + 1] = sum.y;
}

extern "C" void gemm(const half* A, const half* B, float* C) {
  half *dA, *dB;
  float* dC;
  cudaMalloc(&dA, sizeof(half) * M * K);
  cudaMalloc(&dB, sizeof(half) * K * N);
  cudaMalloc(&dC, sizeof(float) * M * N);
  cudaMemcpy(dA, A, sizeof(half) * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(half) * K * N, cudaMemcpyHostToDevice);
  gemm_half2<<<dim3((N / 2 + 63) / 64, M), 64>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
