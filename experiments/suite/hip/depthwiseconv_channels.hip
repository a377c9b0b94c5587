// Threads along the channels, a block for each pixel.
#include <hip/hip_runtime.h>

#ifndef SIZE
#define SIZE 32
#endif
#ifndef KERNEL
#define KERNEL 3
#endif
#ifndef CHANNELS
#define CHANNELS 128
#endif
#define OUT (SIZE - KERNEL + 1)

__global__ void depthwise_channels(const float* A, const float* B, float* C) {
  const int j = blockIdx.x;
  const int i = blockIdx.y;
  for (int c = threadIdx.x; c < CHANNELS; c += blockDim.x) {
    float sum = 0.0f;
    for (int a = 0; a < KERNEL; ++a)
      for (int b = 0; b < KERNEL; ++b) sum += A[((i + a) * SIZE + j + b) * CHANNELS + c] * B[(a * KERNEL + b) * CHANNELS + c];
    C[(i * OUT + j) * CHANNELS + c] = sum;
  }
}

extern "C" void depthwiseconv(const float* A, const float* B, float* C) {
  float* dA;
  float* dB;
  float* dC;
  hipMalloc(&dA, sizeof(float) * SIZE * SIZE * CHANNELS);
  hipMalloc(&dB, sizeof(float) * KERNEL * KERNEL * CHANNELS);
  hipMalloc(&dC, sizeof(float) * OUT * OUT * CHANNELS);
  hipMemcpy(dA, A, sizeof(float) * SIZE * SIZE * CHANNELS, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, sizeof(float) * KERNEL * KERNEL * CHANNELS, hipMemcpyHostToDevice);
  depthwise_channels<<<dim3(OUT, OUT), 64>>>(dA, dB, dC);
  hipMemcpy(C, dC, sizeof(float) * OUT * OUT * CHANNELS, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
