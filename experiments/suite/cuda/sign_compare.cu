// Sign as the difference of two comparisons; rows and columns of a two-dimensional launch.
#include <cuda_runtime.h>

#ifndef ROWS
#define ROWS 45
#endif
#ifndef COLS
#define COLS 25
#endif

template <typename T>
__device__ __forceinline__ T sign_of(T v) {
  return T((v > T(0)) - (v < T(0)));
}

__global__ void sign_matrix(const float* __restrict__ x, float* __restrict__ y) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < ROWS && col < COLS) y[row * COLS + col] = sign_of(x[row * COLS + col]);
}

extern "C" void sign(const float* A, float* C) {
  const size_t bytes = sizeof(float) * ROWS * COLS;
  float *x, *y;
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMemcpy(x, A, bytes, cudaMemcpyHostToDevice);
  dim3 block(32, 4);
  dim3 grid((COLS + 31) / 32, (ROWS + 3) / 4);
  sign_matrix<<<grid, block>>>(x, y);
  cudaMemcpy(C, y, bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
