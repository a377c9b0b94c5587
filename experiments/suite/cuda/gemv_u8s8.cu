// y = A * x of unsigned and signed bytes, a warp for each row.
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

__global__ void gemv_bytes(const uint8_t* A, const int8_t* x, int32_t* y) {
  const int row = blockIdx.x;
  int sum = 0;
  for (int k = threadIdx.x; k < K; k += warpSize) sum += A[row * K + k] * x[k];
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) y[row] = sum;
}

extern "C" void gemv(const uint8_t* A, const int8_t* x, int32_t* y) {
  uint8_t* dA;
  int8_t* dx;
  int32_t* dy;
  cudaMalloc(&dA, M * K);
  cudaMalloc(&dx, K);
  cudaMalloc(&dy, M * sizeof(int32_t));
  cudaMemcpy(dA, A, M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x, K, cudaMemcpyHostToDevice);
  gemv_bytes<<<M, 32>>>(dA, dx, dy);
  cudaMemcpy(y, dy, M * sizeof(int32_t), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dx);
  cudaFree(dy);
}
