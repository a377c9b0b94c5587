// Both tiles live in one piece of dynamic LDS; sizes are parameters.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static inline void check(hipError_t status, const char* what) {
  if (status != hipSuccess) {
    fprintf(stderr, "%s: %s\n", what, hipGetErrorString(status));
    exit(1);
  }
}

__global__ void bmm_dynamic(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int m, int k, int n) {
  extern __shared__ float tiles[];
  const int tile = blockDim.x;
  float* left = tiles;
  float* right = tiles + tile * tile;
  const float* a = A + blockIdx.z * m * k;
  const float* b = B + blockIdx.z * k * n;
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += tile) {
    left[y * tile + x] = (row < m && k0 + x < k) ? a[row * k + k0 + x] : 0.0f;
    right[y * tile + x] = (k0 + y < k && col < n) ? b[(k0 + y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += left[y * tile + i] * right[i * tile + x];
    __syncthreads();
  }
  if (row < m && col < n) C[(blockIdx.z * m + row) * n + col] = sum;
}

extern "C" void bmm(const float* A, const float* B, float* C, int batch, int m, int k, int n) {
  const int tile = 16;
  float *dA, *dB, *dC;
  check(hipMalloc(&dA, sizeof(float) * batch * m * k), "A");
  check(hipMalloc(&dB, sizeof(float) * batch * k * n), "B");
  check(hipMalloc(&dC, sizeof(float) * batch * m * n), "C");
  check(hipMemcpy(dA, A, sizeof(float) * batch * m * k, hipMemcpyHostToDevice), "copy of A");
  check(hipMemcpy(dB, B, sizeof(float) * batch * k * n, hipMemcpyHostToDevice), "copy of B");
  dim3 grid((n + tile - 1) / tile, (m + tile - 1) / tile, batch);
  hipLaunchKernelGGL(bmm_dynamic, grid, dim3(tile, tile), 2 * tile * tile * sizeof(float), 0, dA, dB, dC, m, k, n);
  check(hipGetLastError(), "launch");
  check(hipMemcpy(C, dC, sizeof(float) * batch * m * n, hipMemcpyDeviceToHost), "copy of C");
  check(hipFree(dA), "free");
  check(hipFree(dB), "free");
  check(hipFree(dC), "free");
}
