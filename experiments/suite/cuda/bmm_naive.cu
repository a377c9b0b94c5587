// C[b] = A[b] * B[b]: the batch is the third dimension of the grid.
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

__global__ void bmm_kernel(const float *A, const float *B, float *C) {
  int b = blockIdx.z;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  float value = 0;
  for (int k = 0; k < K; k++)
    value += A[b * M * K + i * K + k] * B[b * K * N + k * N + j];
  C[b * M * N + i * N + j] = value;
}

extern "C" void bmm(const float *A, const float *B, float *C) {
  float *A_dev, *B_dev, *C_dev;
  int bytes_A = BATCH * M * K * sizeof(float);
  int bytes_B = BATCH * K * N * sizeof(float);
  int bytes_C = BATCH * M * N * sizeof(float);
  cudaMalloc((void **)&A_dev, bytes_A);
  cudaMalloc((void **)&B_dev, bytes_B);
  cudaMalloc((void **)&C_dev, bytes_C);
  cudaMemcpy(A_dev, A, bytes_A, cudaMemcpyHostToDevice);
  cudaMemcpy(B_dev, B, bytes_B, cudaMemcpyHostToDevice);
  dim3 threads(32, 8);
  dim3 blocks((N + 31) / 32, (M + 7) / 8, BATCH);
  bmm_kernel<<<blocks, threads>>>(A_dev, B_dev, C_dev);
  cudaMemcpy(C, C_dev, bytes_C, cudaMemcpyDeviceToHost);
  cudaFree(A_dev);
  cudaFree(B_dev);
  cudaFree(C_dev);
}
