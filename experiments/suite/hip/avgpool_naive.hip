// Mean of every window, channels last: one thread for each output.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SIZE
#define SIZE 32
#endif
#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

__global__ void avgpool_kernel(const float* A, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * OUT * OUT * CHANNELS) return;
  const int c = i % CHANNELS;
  const int ow = i / CHANNELS % OUT;
  const int oh = i / (CHANNELS * OUT) % OUT;
  const int n = i / (CHANNELS * OUT * OUT);
  float value = 0.0f;
  for (int kh = 0; kh < KERNEL; ++kh) {
    for (int kw = 0; kw < KERNEL; ++kw) {
      const float x = A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c];
      value += x;
    }
  }
  C[i] = value / (KERNEL * KERNEL);
}

extern "C" void avgpool(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS);
  hipMalloc(&dC, sizeof(float) * BATCH * OUT * OUT * CHANNELS);
  hipMemcpy(dA, A, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, hipMemcpyHostToDevice);
  avgpool_kernel<<<(BATCH * OUT * OUT * CHANNELS + 255) / 256, 256>>>(dA, dC);
  hipMemcpy(C, dC, sizeof(float) * BATCH * OUT * OUT * CHANNELS, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
