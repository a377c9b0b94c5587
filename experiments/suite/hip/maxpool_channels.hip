// A block for each output pixel, threads along the channels.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

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

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

__global__ void maxpool_channels(const float* __restrict__ A, float* __restrict__ C) {
  const int ow = blockIdx.x, oh = blockIdx.y, n = blockIdx.z;
  const float* window = A + ((n * SIZE + oh * STRIDE) * SIZE + ow * STRIDE) * CHANNELS;
  for (int c = threadIdx.x; c < CHANNELS; c += blockDim.x) {
    float best = window[c];
    for (int kh = 0; kh < KERNEL; ++kh)
      for (int kw = 0; kw < KERNEL; ++kw) best = fmaxf(best, window[(kh * SIZE + kw) * CHANNELS + c]);
    C[((n * OUT + oh) * OUT + ow) * CHANNELS + c] = best;
  }
}

extern "C" void maxpool(const float* A, float* C) {
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, BATCH * OUT * OUT * CHANNELS * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float), hipMemcpyHostToDevice));
  maxpool_channels<<<dim3(OUT, OUT, BATCH), 64>>>(d_A, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, BATCH * OUT * OUT * CHANNELS * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
