// half x half -> float, 32 x 32 tiles of C with MFMA 32x32x8, operands straight from memory.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));

__global__ void bmm_f16(const _Float16* A, const _Float16* B, float* C) {
  const int lane = threadIdx.x;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  const _Float16* a = A + blockIdx.z * M * K;
  const _Float16* b = B + blockIdx.z * K * N;
  float16v acc = {0};
  for (int k0 = 0; k0 < K; k0 += 8) {
    half4 x, y;
    for (int i = 0; i < 4; ++i) {
      const int k = k0 + lane / 32 * 4 + i;
      const int row = row0 + lane % 32, col = col0 + lane % 32;
      x[i] = row < M && k < K ? a[row * K + k] : (_Float16)0;
      y[i] = col < N && k < K ? b[k * N + col] : (_Float16)0;
    }
    acc = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, acc, 0, 0, 0);
  }
  for (int i = 0; i < 16; ++i) {
    const int row = row0 + i / 4 * 8 + lane / 32 * 4 + i % 4;
    const int col = col0 + lane % 32;
    if (row < M && col < N) C[(blockIdx.z * M + row) * N + col] = acc[i];
  }
}

extern "C" void bmm(const __half* A, const __half* B, float* C) {
  _Float16 *dA, *dB;
  float* dC;
  hipMalloc(&dA, sizeof(__half) * BATCH * M * K);
  hipMalloc(&dB, sizeof(__half) * BATCH * K * N);
  hipMalloc(&dC, sizeof(float) * BATCH * M * N);
  hipMemcpy(dA, A, sizeof(__half) * BATCH * M * K, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, sizeof(__half) * BATCH * K * N, hipMemcpyHostToDevice);
  bmm_f16<<<dim3((N + 31) / 32, (M + 31) / 32, BATCH), 64>>>(dA, dB, dC);
  hipMemcpy(C, dC, sizeof(float) * BATCH * M * N, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
