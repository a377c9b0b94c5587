// Depthwise convolution: tiles of 8 x 8 outputs of one channel, the inputs with their halo in shared memory.
#include <cuda_runtime.h>

#ifndef SIZE
#define SIZE 256
#endif
#ifndef KERNEL
#define KERNEL 3
#endif
#ifndef CHANNELS
#define CHANNELS 3
#endif

#define TILE 8
#define PATCH (TILE + KERNEL - 1)
#define OUT (SIZE - KERNEL + 1)

__global__ void depthwise_tile(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  __shared__ float patch[PATCH][PATCH];
  __shared__ float taps[KERNEL][KERNEL];
  const int c = blockIdx.z;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  const int tid = threadIdx.y * TILE + threadIdx.x;
  for (int i = tid; i < PATCH * PATCH; i += TILE * TILE) {
    const int r = i / PATCH, q = i % PATCH;
    patch[r][q] = (row0 + r < SIZE && col0 + q < SIZE) ? x[((row0 + r) * SIZE + col0 + q) * CHANNELS + c] : 0.0f;
  }
  if (tid < KERNEL * KERNEL) taps[tid / KERNEL][tid % KERNEL] = w[tid * CHANNELS + c];
  __syncthreads();
  const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
  if (row < OUT && col < OUT) {
    float sum = 0.0f;
    for (int a = 0; a < KERNEL; ++a)
      for (int b = 0; b < KERNEL; ++b) sum += patch[threadIdx.y + a][threadIdx.x + b] * taps[a][b];
    y[(row * OUT + col) * CHANNELS + c] = sum;
  }
}

extern "C" void depthwiseconv(const float* A, const float* B, float* C) {
  float *x, *w, *y;
  cudaMalloc(&x, sizeof(float) * SIZE * SIZE * CHANNELS);
  cudaMalloc(&w, sizeof(float) * KERNEL * KERNEL * CHANNELS);
  cudaMalloc(&y, sizeof(float) * OUT * OUT * CHANNELS);
  cudaMemcpy(x, A, sizeof(float) * SIZE * SIZE * CHANNELS, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, sizeof(float) * KERNEL * KERNEL * CHANNELS, cudaMemcpyHostToDevice);
  const dim3 threads(TILE, TILE);
  const dim3 blocks((OUT + TILE - 1) / TILE, (OUT + TILE - 1) / TILE, CHANNELS);
  depthwise_tile<<<blocks, threads>>>(x, w, y);
  cudaMemcpy(C, y, sizeof(float) * OUT * OUT * CHANNELS, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
