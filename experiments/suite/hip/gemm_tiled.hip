// Square tiles of A and B staged in LDS.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif
#define TILE 16

#define HIP_CHECK(call)                                                                       \
  do {                                                                                        \
    hipError_t status = (call);                                                               \
    if (status != hipSuccess) {                                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status));          \
      exit(EXIT_FAILURE);                                                                     \
    }                                                                                         \
  } while (0)

__global__ __launch_bounds__(TILE * TILE) void gemm_lds(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
  __shared__ float a[TILE][TILE];
  __shared__ float b[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;
  float acc = 0.0f;
  for (int start = 0; start < K; start += TILE) {
    a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
    b[ty][tx] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) acc += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

extern "C" void gemm(const float* A, const float* B, float* C) {
  float *d_a = nullptr, *d_b = nullptr, *d_c = nullptr;
  HIP_CHECK(hipMalloc(&d_a, sizeof(float) * M * K));
  HIP_CHECK(hipMalloc(&d_b, sizeof(float) * K * N));
  HIP_CHECK(hipMalloc(&d_c, sizeof(float) * M * N));
  HIP_CHECK(hipMemcpy(d_a, A, sizeof(float) * M * K, hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_b, B, sizeof(float) * K * N, hipMemcpyHostToDevice));
  const dim3 block(TILE, TILE);
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm_lds<<<grid, block>>>(d_a, d_b, d_c);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_c, sizeof(float) * M * N, hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_a));
  HIP_CHECK(hipFree(d_b));
  HIP_CHECK(hipFree(d_c));
}
