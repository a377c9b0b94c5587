// u8 x s8 -> s32, a grid-stride loop over all elements of all products.
#include <hip/hip_runtime.h>
#include <stdint.h>

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

__global__ void bmm_bytes(const uint8_t* A, const int8_t* B, int32_t* C) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BATCH * M * N; i += gridDim.x * blockDim.x) {
    const int col = i % N;
    const int row = i / N;
    const uint8_t* a = A + row * K;
    const int8_t* b = B + row / M * K * N + col;
    int sum = 0;
    for (int k = 0; k < K; ++k) sum += a[k] * b[k * N];
    C[i] = sum;
  }
}

extern "C" void bmm(const uint8_t* A, const int8_t* B, int32_t* C) {
  uint8_t* dA;
  int8_t* dB;
  int32_t* dC;
  hipMalloc(&dA, BATCH * M * K);
  hipMalloc(&dB, BATCH * K * N);
  hipMalloc(&dC, sizeof(int32_t) * BATCH * M * N);
  hipMemcpy(dA, A, BATCH * M * K, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, BATCH * K * N, hipMemcpyHostToDevice);
  bmm_bytes<<<128, 256>>>(dA, dB, dC);
  hipMemcpy(C, dC, sizeof(int32_t) * BATCH * M * N, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
