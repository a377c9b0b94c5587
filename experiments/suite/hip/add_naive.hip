// c = a + b
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#ifndef N
#define N 4608
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

__global__ void add_kernel(const float* A, const float* B, float* C) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}

extern "C" void add(const float* A, const float* B, float* C) {
  float* d_A = nullptr;
  float* d_B = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, N * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_B, N * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, N * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, N * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_B, B, N * sizeof(float), hipMemcpyHostToDevice));
  add_kernel<<<(N + 255) / 256, 256>>>(d_A, d_B, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, N * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_B));
  HIP_CHECK(hipFree(d_C));
}
