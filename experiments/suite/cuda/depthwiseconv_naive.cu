// Depthwise convolution of one picture, channels last: a thread for each output element.
#include <cuda_runtime.h>

#ifndef SIZE
#define SIZE 128
#endif
#ifndef KERNEL
#define KERNEL 3
#endif
#ifndef CHANNELS
#define CHANNELS 128
#endif

#define OUT (SIZE - KERNEL + 1)

__global__ void depthwise(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < OUT * OUT * CHANNELS) {
    int c = id % CHANNELS;
    int j = (id / CHANNELS) % OUT;
    int i = id / (CHANNELS * OUT);
    float sum = 0.0f;
    for (int a = 0; a < KERNEL; a++) {
      for (int b = 0; b < KERNEL; b++) {
        sum += x[((i + a) * SIZE + (j + b)) * CHANNELS + c] * w[(a * KERNEL + b) * CHANNELS + c];
      }
    }
    y[id] = sum;
  }
}

extern "C" void depthwiseconv(const float* A, const float* B, float* C) {
  float *x, *w, *y;
  cudaMalloc((void**)&x, SIZE * SIZE * CHANNELS * sizeof(float));
  cudaMalloc((void**)&w, KERNEL * KERNEL * CHANNELS * sizeof(float));
  cudaMalloc((void**)&y, OUT * OUT * CHANNELS * sizeof(float));
  cudaMemcpy(x, A, SIZE * SIZE * CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, KERNEL * KERNEL * CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  depthwise<<<(OUT * OUT * CHANNELS + 255) / 256, 256>>>(x, w, y);
  cudaMemcpy(C, y, OUT * OUT * CHANNELS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
