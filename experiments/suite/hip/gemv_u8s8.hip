// u8 x s8 -> s32: a wavefront for each row, butterfly sums of integers.
#include <hip/hip_runtime.h>
#include <stdint.h>

#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif

__device__ __forceinline__ int wave_sum(int v) {
#pragma unroll
  for (int mask = 32; mask > 0; mask >>= 1) v += __shfl_xor(v, mask);
  return v;
}

__global__ void gemv_bytes(const uint8_t* A, const int8_t* x, int32_t* y) {
  int sum = 0;
  for (int k = threadIdx.x; k < K; k += 64) sum += A[blockIdx.x * K + k] * x[k];
  sum = wave_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

extern "C" void gemv(const uint8_t* A, const int8_t* x, int32_t* y) {
  uint8_t* dA;
  int8_t* dx;
  int32_t* dy;
  hipMalloc(&dA, M * K);
  hipMalloc(&dx, K);
  hipMalloc(&dy, M * sizeof(int32_t));
  hipMemcpy(dA, A, M * K, hipMemcpyHostToDevice);
  hipMemcpy(dx, x, K, hipMemcpyHostToDevice);
  gemv_bytes<<<M, 64>>>(dA, dx, dy);
  hipMemcpy(y, dy, M * sizeof(int32_t), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dx);
  hipFree(dy);
}
