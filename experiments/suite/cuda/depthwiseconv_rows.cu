// Depthwise convolution: a block for each output pixel, its threads stride over the channels, the weights of a channel in registers.
#include <cuda_runtime.h>

#ifndef SIZE
#define SIZE 192
#endif
#ifndef KERNEL
#define KERNEL 3
#endif
#ifndef CHANNELS
#define CHANNELS 3
#endif

constexpr int kOut = SIZE - KERNEL + 1;

__global__ void depthwise_pixels(const float* x, const float* w, float* y) {
  for (int c = threadIdx.x; c < CHANNELS; c += blockDim.x) {
    float taps[KERNEL * KERNEL];
#pragma unroll
    for (int t = 0; t < KERNEL * KERNEL; ++t) taps[t] = w[t * CHANNELS + c];
    const int row = blockIdx.y;
    const int col = blockIdx.x;
    float acc = 0.0f;
#pragma unroll
    for (int t = 0; t < KERNEL * KERNEL; ++t) {
      acc += taps[t] * x[((row + t / KERNEL) * SIZE + col + t % KERNEL) * CHANNELS + c];
    }
    y[(row * kOut + col) * CHANNELS + c] = acc;
  }
}

extern "C" void depthwiseconv(const float* A, const float* B, float* C) {
  const size_t in = sizeof(float) * SIZE * SIZE * CHANNELS, out = sizeof(float) * kOut * kOut * CHANNELS;
  float *x, *w, *y;
  cudaMalloc(&x, in);
  cudaMalloc(&w, sizeof(float) * KERNEL * KERNEL * CHANNELS);
  cudaMalloc(&y, out);
  cudaMemcpy(x, A, in, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, sizeof(float) * KERNEL * KERNEL * CHANNELS, cudaMemcpyHostToDevice);
  depthwise_pixels<<<dim3(kOut, kOut), 32>>>(x, w, y);
  cudaMemcpy(C, y, out, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
