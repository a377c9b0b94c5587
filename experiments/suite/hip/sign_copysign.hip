// copysign of one where the value is not zero.
#include <hip/hip_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void sign_bits(const float* __restrict__ A, float* __restrict__ C) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
    C[i] = A[i] == 0.0f ? 0.0f : copysignf(1.0f, A[i]);
  }
}

extern "C" void sign(const float* A, float* C) {
  float* d_A;
  float* d_C;
  hipMalloc(&d_A, N * sizeof(float));
  hipMalloc(&d_C, N * sizeof(float));
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMemcpyAsync(d_A, A, N * sizeof(float), hipMemcpyHostToDevice, stream);
  sign_bits<<<40, 256, 0, stream>>>(d_A, d_C);
  hipMemcpyAsync(C, d_C, N * sizeof(float), hipMemcpyDeviceToHost, stream);
  hipStreamSynchronize(stream);
  hipStreamDestroy(stream);
  hipFree(d_A);
  hipFree(d_C);
}
