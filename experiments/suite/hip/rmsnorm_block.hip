// A block for each row, shuffles within wavefronts and LDS between them.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

#define THREADS 256
#define WAVES (THREADS / 64)

__global__ __launch_bounds__(THREADS) void rmsnorm_block(const float* __restrict__ A, float* __restrict__ C) {
  __shared__ float sums[WAVES];
  const float* x = A + (size_t)blockIdx.x * COLS;
  float* y = C + (size_t)blockIdx.x * COLS;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < COLS; c += THREADS) sum += x[c] * x[c];
  for (int offset = 32; offset > 0; offset >>= 1) sum += __shfl_xor(sum, offset);
  if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < WAVES; ++w) total += sums[w];
  const float scale = rsqrtf(total / COLS + 1e-5f);
  for (int c = threadIdx.x; c < COLS; c += THREADS) y[c] = x[c] * scale;
}

extern "C" void rmsnorm(const float* A, float* C) {
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, ROWS * COLS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, ROWS * COLS * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, ROWS * COLS * sizeof(float), hipMemcpyHostToDevice));
  rmsnorm_block<<<ROWS, THREADS>>>(d_A, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, ROWS * COLS * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
