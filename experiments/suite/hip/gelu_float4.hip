// Four values for each thread; whatever does not fill four is done one by one.
#include <hip/hip_runtime.h>

#ifndef N
#define N 4608
#endif

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * x * (1.0f + 0.044715f * x * x))); }

__global__ __launch_bounds__(256) void gelu_four(const float* __restrict__ A, float* __restrict__ C) {
  const int stride = gridDim.x * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = thread; i < N / 4; i += stride) {
    float4 v = ((const float4*)A)[i];
    v.x = gelu(v.x);
    v.y = gelu(v.y);
    v.z = gelu(v.z);
    v.w = gelu(v.w);
    ((float4*)C)[i] = v;
  }
  for (int i = N / 4 * 4 + thread; i < N; i += stride) C[i] = gelu(A[i]);
}

extern "C" void gelu(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * N);
  hipMalloc(&dC, sizeof(float) * N);
  hipMemcpy(dA, A, sizeof(float) * N, hipMemcpyHostToDevice);
  gelu_four<<<16, 256>>>(dA, dC);
  hipMemcpy(C, dC, sizeof(float) * N, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
