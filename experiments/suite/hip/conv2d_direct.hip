// Direct convolution, channels last: a block for each pixel, a thread for each output channel.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 128
#endif
#ifndef OUT_CHANNELS
#define OUT_CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 2
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

__global__ void conv2d_direct(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
  const int ow = blockIdx.x;
  const int oh = blockIdx.y;
  const int n = blockIdx.z;
  for (int oc = threadIdx.x; oc < OUT_CHANNELS; oc += blockDim.x) {
    float sum = 0.0f;
    for (int kh = 0; kh < KERNEL; ++kh) {
      for (int kw = 0; kw < KERNEL; ++kw) {
        const float* in = A + ((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * IN_CHANNELS;
        const float* w = B + ((oc * KERNEL + kh) * KERNEL + kw) * IN_CHANNELS;
        for (int ic = 0; ic < IN_CHANNELS; ++ic) sum += in[ic] * w[ic];
      }
    }
    C[((n * OUT + oh) * OUT + ow) * OUT_CHANNELS + oc] = sum;
  }
}

extern "C" void conv2d(const float* A, const float* B, float* C) {
  float* d_A = nullptr;
  float* d_B = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_B, B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice));
  conv2d_direct<<<dim3(OUT, OUT, BATCH), 64>>>(d_A, d_B, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_B));
  HIP_CHECK(hipFree(d_C));
}
