// The weights of 32 channels in LDS, 32 channels by 8 pixels for each block.
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

#define BX 32
#define BY 8

__global__ void depthwise_lds(const float* A, const float* B, float* C) {
  __shared__ float w[KERNEL * KERNEL][BX];
  const int c = blockIdx.x * BX + threadIdx.x;
  for (int k = threadIdx.y; k < KERNEL * KERNEL; k += BY) w[k][threadIdx.x] = c < CHANNELS ? B[k * CHANNELS + c] : 0.0f;
  __syncthreads();
  const int x = blockIdx.y * BY + threadIdx.y;
  const int y = blockIdx.z;
  if (c < CHANNELS && x < OUT) {
    float sum = 0.0f;
#pragma unroll
    for (int a = 0; a < KERNEL; ++a) {
#pragma unroll
      for (int b = 0; b < KERNEL; ++b) sum += A[((y + a) * SIZE + x + b) * CHANNELS + c] * w[a * KERNEL + b][threadIdx.x];
    }
    C[(y * OUT + x) * CHANNELS + c] = sum;
  }
}

extern "C" void depthwiseconv(const float* A, const float* B, float* C) {
  float* dA;
  float* dB;
  float* dC;
  hipMalloc((void**)&dA, SIZE * SIZE * CHANNELS * sizeof(float));
  hipMalloc((void**)&dB, KERNEL * KERNEL * CHANNELS * sizeof(float));
  hipMalloc((void**)&dC, OUT * OUT * CHANNELS * sizeof(float));
  hipMemcpy(dA, A, SIZE * SIZE * CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, KERNEL * KERNEL * CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(depthwise_lds, dim3((CHANNELS + BX - 1) / BX, (OUT + BY - 1) / BY, OUT), dim3(BX, BY), 0, 0, dA, dB, dC);
  hipMemcpy(C, dC, OUT * OUT * CHANNELS * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
