// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
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

__global__ void gelu_kernel(const float* A, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const float x = A[i];
    const float cube = 0.044715f * x * x * x;
    C[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + cube)));
  }
}

extern "C" void gelu(const float* A, float* C) {
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, N * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, N * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, N * sizeof(float), hipMemcpyHostToDevice));
  gelu_kernel<<<(N + 255) / 256, 256>>>(d_A, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, N * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
