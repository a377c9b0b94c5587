// Elementwise sum of two matrices on a two-dimensional grid.
#include <cuda_runtime.h>

#ifndef ROWS
#define ROWS 18
#endif
#ifndef COLS
#define COLS 128
#endif

__global__ void add_matrix(const float* a, const float* b, float* c, int width, int height) {
  unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned int at = y * width + x;
  c[at] = a[at] + b[at];
}

extern "C" void add(const float* A, const float* B, float* C) {
  const int width = COLS, height = ROWS;
  const size_t bytes = sizeof(float) * width * height;
  float *left, *right, *sum;
  cudaMalloc((void**)&left, bytes);
  cudaMalloc((void**)&right, bytes);
  cudaMalloc((void**)&sum, bytes);
  cudaMemcpy(left, A, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(right, B, bytes, cudaMemcpyHostToDevice);
  const dim3 block(32, 8);
  const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  add_matrix<<<grid, block>>>(left, right, sum, width, height);
  cudaMemcpy(C, sum, bytes, cudaMemcpyDeviceToHost);
  cudaFree(left);
  cudaFree(right);
  cudaFree(sum);
}
