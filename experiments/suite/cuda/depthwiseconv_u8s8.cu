// Depthwise convolution of unsigned and signed bytes, a thread for each output element.
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef SIZE
#define SIZE 128
#endif
#ifndef KERNEL
#define KERNEL 3
#endif
#ifndef CHANNELS
#define CHANNELS 3
#endif

constexpr int OUT = SIZE - KERNEL + 1;

__global__ void depthwise_bytes(const uint8_t* __restrict__ x, const int8_t* __restrict__ w, int32_t* __restrict__ y) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (col >= OUT * CHANNELS) return;
  const int c = col % CHANNELS;
  int32_t sum = 0;
  for (int a = 0; a < KERNEL; ++a) {
    for (int b = 0; b < KERNEL; ++b) {
      sum += x[(row + a) * SIZE * CHANNELS + col + b * CHANNELS] * w[(a * KERNEL + b) * CHANNELS + c];
    }
  }
  y[row * OUT * CHANNELS + col] = sum;
}

extern "C" void depthwiseconv(const uint8_t* A, const int8_t* B, int32_t* C) {
  uint8_t* x;
  int8_t* w;
  int32_t* y;
  cudaMalloc(&x, SIZE * SIZE * CHANNELS);
  cudaMalloc(&w, KERNEL * KERNEL * CHANNELS);
  cudaMalloc(&y, OUT * OUT * CHANNELS * sizeof(int32_t));
  cudaMemcpy(x, A, SIZE * SIZE * CHANNELS, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, KERNEL * KERNEL * CHANNELS, cudaMemcpyHostToDevice);
  depthwise_bytes<<<dim3((OUT * CHANNELS + 127) / 128, OUT), 128>>>(x, w, y);
  cudaMemcpy(C, y, OUT * OUT * CHANNELS * sizeof(int32_t), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
