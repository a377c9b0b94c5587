// float4 arithmetic with HIP's operators, the tail by single threads.
#include <hip/hip_runtime.h>

#ifndef N
#define N 4608
#endif

__global__ void add_vec4(const float4* A, const float4* B, float4* C, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < quads) {
    const float4 a = A[i], b = B[i];
    C[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}

__global__ void add_tail(const float* A, const float* B, float* C, int first) {
  const int i = first + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}

static void launch_add(const float* A, const float* B, float* C) {
  const int quads = N / 4;
  if (quads > 0) add_vec4<<<(quads + 127) / 128, 128>>>((const float4*)A, (const float4*)B, (float4*)C, quads);
  if (N % 4 != 0) add_tail<<<1, 4>>>(A, B, C, quads * 4);
}

extern "C" void add(const float* A, const float* B, float* C) {
  float* dA;
  float* dB;
  float* dC;
  hipMalloc(&dA, sizeof(float) * N);
  hipMalloc(&dB, sizeof(float) * N);
  hipMalloc(&dC, sizeof(float) * N);
  hipMemcpy(dA, A, sizeof(float) * N, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, sizeof(float) * N, hipMemcpyHostToDevice);
  launch_add(dA, dB, dC);
  hipMemcpy(C, dC, sizeof(float) * N, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
