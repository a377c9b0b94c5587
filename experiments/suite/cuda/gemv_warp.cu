// y = A * x, a warp for each row: lanes stride over the columns, the partial sums are shuffled together.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef M
#define M 32
#endif
#ifndef K
#define K 512
#endif

#define WARP 32
#define WARPS_PER_BLOCK 4

#define CHECK(x)                                                          \
  {                                                                       \
    cudaError_t err = (x);                                                \
    if (err != cudaSuccess) {                                             \
      printf("CUDA error: %s (line %d)\n", cudaGetErrorString(err), __LINE__); \
      exit(1);                                                            \
    }                                                                     \
  }

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = WARP / 2; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__global__ void __launch_bounds__(WARP* WARPS_PER_BLOCK) gemv_kernel(const float* A, const float* x, float* y) {
  const int lane = threadIdx.x % WARP;
  const int row = blockIdx.x * WARPS_PER_BLOCK + threadIdx.x / WARP;
  if (row >= M) return;
  const float* a = A + row * K;
  float acc = 0.f;
  for (int k = lane; k < K; k += WARP) acc += a[k] * x[k];
  acc = warp_sum(acc);
  if (lane == 0) y[row] = acc;
}

extern "C" void gemv(const float* A, const float* x, float* y) {
  float *d_A = nullptr, *d_x = nullptr, *d_y = nullptr;
  CHECK(cudaMalloc(&d_A, sizeof(float) * M * K));
  CHECK(cudaMalloc(&d_x, sizeof(float) * K));
  CHECK(cudaMalloc(&d_y, sizeof(float) * M));
  CHECK(cudaMemcpy(d_A, A, sizeof(float) * M * K, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_x, x, sizeof(float) * K, cudaMemcpyHostToDevice));
  gemv_kernel<<<(M + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK, WARP * WARPS_PER_BLOCK>>>(d_A, d_x, d_y);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(y, d_y, sizeof(float) * M, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_A));
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_y));
}
