// A block for each output channel and image: planes of the input pass through LDS one after the other.
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
#if (SIZE - KERNEL) / STRIDE + 1 > 8
#error "a plane of the output has at most 64 pixels"
#endif

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

__global__ void conv2dnchw_planes(const float* A, const float* B, float* C) {
  __shared__ float plane[SIZE * SIZE];
  __shared__ float weight[KERNEL * KERNEL];
  const int oc = blockIdx.x, n = blockIdx.y;
  float sum = 0.0f;
  const int t = threadIdx.x;
  for (int ic = 0; ic < IN_CHANNELS; ++ic) {
    for (int i = t; i < SIZE * SIZE; i += blockDim.x) plane[i] = A[(n * IN_CHANNELS + ic) * SIZE * SIZE + i];
    if (t < KERNEL * KERNEL) weight[t] = B[(oc * IN_CHANNELS + ic) * KERNEL * KERNEL + t];
    __syncthreads();
    if (t < OUT * OUT) {
      const float* at = plane + t / OUT * STRIDE * SIZE + t % OUT * STRIDE;
      for (int k = 0; k < KERNEL * KERNEL; ++k) sum += at[k / KERNEL * SIZE + k % KERNEL] * weight[k];
    }
    __syncthreads();
  }
  if (t < OUT * OUT) C[(n * OUT_CHANNELS + oc) * OUT * OUT + t] = sum;
}

extern "C" void conv2dnchw(const float* A, const float* B, float* C) {
  float* d_A = nullptr;
  float* d_B = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_B, B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice));
  conv2dnchw_planes<<<dim3(OUT_CHANNELS, BATCH), 64>>>(d_A, d_B, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_B));
  HIP_CHECK(hipFree(d_C));
}
