// 64 lanes along the channels, four pixels of a row for each block.
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

__global__ __launch_bounds__(256) void sumpool_wave(const float* A, float* C) {
  const int ow = blockIdx.x * blockDim.y + threadIdx.y;
  const int oh = blockIdx.y;
  const int n = blockIdx.z;
  if (ow >= OUT) return;
  for (int c = threadIdx.x; c < CHANNELS; c += 64) {
    const float* p = A + ((n * SIZE + oh * STRIDE) * SIZE + ow * STRIDE) * CHANNELS + c;
    float sum = 0.0f;
    for (int kh = 0; kh < KERNEL; ++kh, p += (SIZE - KERNEL) * CHANNELS) {
      for (int kw = 0; kw < KERNEL; ++kw, p += CHANNELS) sum += *p;
    }
    C[((n * OUT + oh) * OUT + ow) * CHANNELS + c] = sum;
  }
}

extern "C" void sumpool(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc((void**)&dA, BATCH * SIZE * SIZE * CHANNELS * sizeof(float));
  hipMalloc((void**)&dC, BATCH * OUT * OUT * CHANNELS * sizeof(float));
  hipMemcpy(dA, A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(sumpool_wave, dim3((OUT + 3) / 4, OUT, BATCH), dim3(64, 4), 0, 0, dA, dC);
  hipMemcpy(C, dC, BATCH * OUT * OUT * CHANNELS * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
