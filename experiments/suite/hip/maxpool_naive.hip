// Largest value of every window, channels last: one thread for each output.
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

__global__ void maxpool_kernel(const float* A, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * OUT * OUT * CHANNELS) return;
  const int c = i % CHANNELS;
  const int ow = i / CHANNELS % OUT;
  const int oh = i / (CHANNELS * OUT) % OUT;
  const int n = i / (CHANNELS * OUT * OUT);
  float value = -INFINITY;
  for (int kh = 0; kh < KERNEL; ++kh) {
    for (int kw = 0; kw < KERNEL; ++kw) {
      const float x = A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c];
      value = fmaxf(value, x);
    }
  }
  C[i] = value;
}

extern "C" void maxpool(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc((void**)&dA, BATCH * SIZE * SIZE * CHANNELS * sizeof(float));
  hipMalloc((void**)&dC, BATCH * OUT * OUT * CHANNELS * sizeof(float));
  hipMemcpy(dA, A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(maxpool_kernel, dim3((BATCH * OUT * OUT * CHANNELS + 255) / 256), dim3(256), 0, 0, dA, dC);
  hipMemcpy(C, dC, BATCH * OUT * OUT * CHANNELS * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
