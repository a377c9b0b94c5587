#include <cuda_runtime.h>
#ifndef M
#define M 32
#define N 32
#define K 32
#endif
__global__ void mm(const float* A, const float* B, float* C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = 0;
  for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
  C[row * N + col] = acc;
}
extern "C" void gemm(const float* A, const float* B, float* C) {
  float *dA, *dB, *dC;
  cudaMalloc(&dA, M*K * sizeof(float)); cudaMalloc(&dB, K*N*sizeof(float)); cudaMalloc(&dC, M*N*sizeof(float));
  cudaMemcpy(dA, A, M*K*sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, K*N*sizeof(float), cudaMemcpyHostToDevice);
  dim3 b(16,16), g((N+15)/16,(M+15)/16);
  mm<<<g,b>>>(dA,dB,dC);
  cudaMemcpy(C, dC, M*N*sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dA); cudaFree(dB); cudaFree(dC);
}
