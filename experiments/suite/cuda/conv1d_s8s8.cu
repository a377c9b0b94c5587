// One-dimensional convolution of signed bytes, the taps in shared memory.
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef OUT
#define OUT 126
#endif

__global__ void conv1d_bytes(const int8_t* x, const int8_t* w, int32_t* y) {
  __shared__ int taps[3];
  if (threadIdx.x < 3) taps[threadIdx.x] = w[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < OUT) y[i] = x[i] * taps[0] + x[i + 1] * taps[1] + x[i + 2] * taps[2];
}

extern "C" void conv1d(const int8_t* x, const int8_t* w, int32_t* y) {
  int8_t *dx, *dw;
  int32_t* dy;
  cudaMalloc(&dx, OUT + 2);
  cudaMalloc(&dw, 3);
  cudaMalloc(&dy, OUT * sizeof(int32_t));
  cudaMemcpy(dx, x, OUT + 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dw, w, 3, cudaMemcpyHostToDevice);
  conv1d_bytes<<<(OUT + 63) / 64, 64>>>(dx, dw, dy);
  cudaMemcpy(y, dy, OUT * sizeof(int32_t), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dw);
  cudaFree(dy);
}
