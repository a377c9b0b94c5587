// y = A x, a wavefront of 64 lanes for each row, partial sums by shuffles.
#include <hip/hip_runtime.h>

#ifndef M
#define M 112
#endif
#ifndef K
#define K 128
#endif
#define WAVE 64
#define ROWS_PER_BLOCK 4

__global__ void gemv_wave(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y) {
  const int lane = threadIdx.x % WAVE;
  const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / WAVE;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = lane; k < K; k += WAVE) sum += A[row * K + k] * x[k];
  for (int offset = WAVE / 2; offset > 0; offset /= 2) sum += __shfl_down(sum, offset);
  if (lane == 0) y[row] = sum;
}

extern "C" void gemv(const float* A, const float* x, float* y) {
  float *dA, *dx, *dy;
  hipMalloc(&dA, M * K * sizeof(float));
  hipMalloc(&dx, K * sizeof(float));
  hipMalloc(&dy, M * sizeof(float));
  hipMemcpy(dA, A, M * K * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dx, x, K * sizeof(float), hipMemcpyHostToDevice);
  gemv_wave<<<(M + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, WAVE * ROWS_PER_BLOCK>>>(dA, dx, dy);
  hipMemcpy(y, dy, M * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dx);
  hipFree(dy);
}
