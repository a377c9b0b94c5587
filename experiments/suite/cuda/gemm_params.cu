// C[m,n] = A[m,k] * B[k,n] for sizes that are known at the call only; a one-dimensional launch.
#include <cuda_runtime.h>

__device__ __forceinline__ float dot(const float* row, const float* column, int length, int stride) {
  float sum = 0.0f;
  while (length-- > 0) {
    sum += *row * *column;
    row++;
    column += stride;
  }
  return sum;
}

__global__ void gemm_flat(const float* A, const float* B, float* C, int m, int k, int n) {
  int id = blockDim.x * blockIdx.x + threadIdx.x;
  if (id >= m * n) {
    return;
  }
  int i = id / n;
  int j = id % n;
  C[id] = dot(A + i * k, B + j, k, n);
}

extern "C" void gemm(const float* A, const float* B, float* C, int m, int k, int n) {
  float *dA, *dB, *dC;
  size_t sizeA = (size_t)m * k * sizeof(float);
  size_t sizeB = (size_t)k * n * sizeof(float);
  size_t sizeC = (size_t)m * n * sizeof(float);
  cudaMalloc((void **)&dA, sizeA);
  cudaMalloc((void **)&dB, sizeB);
  cudaMalloc((void **)&dC, sizeC);
  cudaMemcpy(dA, A, sizeA, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeB, cudaMemcpyHostToDevice);
  int threads = 256;
  int blocks = (m * n + threads - 1) / threads;
  gemm_flat<<<blocks, threads>>>(dA, dB, dC, m, k, n);
  cudaMemcpy(C, dC, sizeC, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
