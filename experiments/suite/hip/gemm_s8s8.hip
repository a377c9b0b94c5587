// int8 x int8 -> int32 with the matrix core: four int8 values of K are packed into an int for each lane.
#include <hip/hip_runtime.h>
#include <cstdint>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

typedef int int4v __attribute__((ext_vector_type(4)));

__global__ void gemm_i8(const int8_t* A, const int8_t* B, int32_t* C) {
  const int lane = threadIdx.x;
  const int row = blockIdx.y * 16 + lane % 16;
  const int col = blockIdx.x * 16 + lane % 16;
  int4v acc = {0, 0, 0, 0};
  for (int k0 = 0; k0 < K; k0 += 16) {
    unsigned a = 0, b = 0;
    for (int i = 0; i < 4; ++i) {
      const int k = k0 + lane / 16 * 4 + i;
      const int left = row < M && k < K ? A[row * K + k] : 0;
      const int right = col < N && k < K ? B[k * N + col] : 0;
      a |= (unsigned)(left & 0xff) << (8 * i);
      b |= (unsigned)(right & 0xff) << (8 * i);
    }
    acc = __builtin_amdgcn_mfma_i32_16x16x16i8((int)a, (int)b, acc, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i) {
    const int out = blockIdx.y * 16 + lane / 16 * 4 + i;
    if (out < M && col < N) C[out * N + col] = acc[i];
  }
}

extern "C" void gemm(const int8_t* A, const int8_t* B, int32_t* C) {
  int8_t *dA, *dB;
  int32_t* dC;
  hipMalloc((void**)&dA, M * K);
  hipMalloc((void**)&dB, K * N);
  hipMalloc((void**)&dC, M * N * sizeof(int32_t));
  hipMemcpy(dA, A, M * K, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, K * N, hipMemcpyHostToDevice);
  gemm_i8<<<dim3((N + 15) / 16, (M + 15) / 16), 64>>>(dA, dB, dC);
  hipMemcpy(C, dC, M * N * sizeof(int32_t), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
