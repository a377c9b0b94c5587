// Smallest value of every window, channels last: one thread for each output.
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

__global__ void minpool_kernel(const float* A, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * OUT * OUT * CHANNELS) return;
  const int c = i % CHANNELS;
  const int ow = i / CHANNELS % OUT;
  const int oh = i / (CHANNELS * OUT) % OUT;
  const int n = i / (CHANNELS * OUT * OUT);
  float value = INFINITY;
  for (int kh = 0; kh < KERNEL; ++kh) {
    for (int kw = 0; kw < KERNEL; ++kw) {
      const float x = A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c];
      value = x < value ? x : value;
    }
  }
  C[i] = value;
}

extern "C" void minpool(const float* A, float* C) {
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, BATCH * OUT * OUT * CHANNELS * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float), hipMemcpyHostToDevice));
  minpool_kernel<<<(BATCH * OUT * OUT * CHANNELS + 255) / 256, 256>>>(d_A, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, BATCH * OUT * OUT * CHANNELS * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
