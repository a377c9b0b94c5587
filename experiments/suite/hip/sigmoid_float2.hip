// Two values for each thread through float2; an odd last value goes to thread 0.
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

__device__ inline float logistic(float x) { return 1.0f / (1.0f + __expf(-x)); }

__global__ void sigmoid_two(const float* A, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N / 2) {
    const float2 v = reinterpret_cast<const float2*>(A)[i];
    reinterpret_cast<float2*>(C)[i] = make_float2(logistic(v.x), logistic(v.y));
  }
  if (N % 2 == 1 && i == 0) C[N - 1] = logistic(A[N - 1]);
}

extern "C" void sigmoid(const float* A, float* C) {
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, N * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, N * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, N * sizeof(float), hipMemcpyHostToDevice));
  sigmoid_two<<<(N / 2 + 256) / 256, 256>>>(d_A, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, N * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
