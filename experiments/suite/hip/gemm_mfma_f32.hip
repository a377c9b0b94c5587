// A wavefront of 64 lanes computes a 16 x 16 tile of C with the matrix core, four values of K at a time.
#include <hip/hip_runtime.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

using float4_t = __attribute__((__vector_size__(4 * sizeof(float)))) float;

__global__ void gemm_mfma(const float* A, const float* B, float* C) {
  const int lane = threadIdx.x;
  const int row = blockIdx.y * 16 + lane % 16;
  const int col = blockIdx.x * 16 + lane % 16;
  float4_t acc = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int k0 = 0; k0 < K; k0 += 4) {
    const int k = k0 + lane / 16;
    const float a = row < M && k < K ? A[row * K + k] : 0.0f;
    const float b = col < N && k < K ? B[k * N + col] : 0.0f;
    acc = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, acc, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i) {
    const int out = blockIdx.y * 16 + lane / 16 * 4 + i;
    if (out < M && col < N) C[out * N + col] = acc[i];
  }
}

extern "C" void gemm(const float* A, const float* B, float* C) {
  float *dA, *dB, *dC;
  hipMalloc(&dA, M * K * sizeof(float));
  hipMalloc(&dB, K * N * sizeof(float));
  hipMalloc(&dC, M * N * sizeof(float));
  hipMemcpy(dA, A, M * K * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, K * N * sizeof(float), hipMemcpyHostToDevice);
  gemm_mfma<<<dim3((N + 15) / 16, (M + 15) / 16), 64>>>(dA, dB, dC);
  hipMemcpy(C, dC, M * N * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
