// A block for each row, trees in LDS for maximum and sum.
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

#define BLOCK 128

__global__ void softmax_tree(const float* A, float* C) {
  __shared__ float shared[BLOCK];
  const int t = threadIdx.x;
  const float* in = A + blockIdx.x * COLS;
  float* out = C + blockIdx.x * COLS;
  float peak = -3.4e38f;
  for (int c = t; c < COLS; c += BLOCK) peak = fmaxf(peak, in[c]);
  shared[t] = peak;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) shared[t] = fmaxf(shared[t], shared[t + s]);
    __syncthreads();
  }
  peak = shared[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < COLS; c += BLOCK) sum += expf(in[c] - peak);
  shared[t] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) shared[t] += shared[t + s];
    __syncthreads();
  }
  sum = shared[0];
  for (int c = t; c < COLS; c += BLOCK) out[c] = expf(in[c] - peak) / sum;
}

extern "C" void softmax(const float* A, float* C) {
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, ROWS * COLS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, ROWS * COLS * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, ROWS * COLS * sizeof(float), hipMemcpyHostToDevice));
  softmax_tree<<<ROWS, BLOCK>>>(d_A, d_C);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, ROWS * COLS * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
