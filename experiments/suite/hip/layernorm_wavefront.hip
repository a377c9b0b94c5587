// A wavefront for each row; two sums by shuffles; sizes are parameters.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

__device__ __forceinline__ float wave_all(float v) {
#pragma unroll
  for (int mask = 32; mask >= 1; mask >>= 1) v += __shfl_xor(v, mask);
  return v;
}

__global__ void layernorm_wave(const float* __restrict__ A, const float* __restrict__ gamma, const float* __restrict__ beta,
                               float* __restrict__ C, int rows, int dim) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* x = A + row * dim;
  float sum = 0.0f;
  for (int d = threadIdx.x; d < dim; d += 64) sum += x[d];
  const float mean = wave_all(sum) / dim;
  float squares = 0.0f;
  for (int d = threadIdx.x; d < dim; d += 64) squares += (x[d] - mean) * (x[d] - mean);
  const float inverse = 1.0f / (sqrtf(wave_all(squares) / dim) + 1e-5f);
  for (int d = threadIdx.x; d < dim; d += 64) C[row * dim + d] = (x[d] - mean) * inverse * gamma[d] + beta[d];
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C, int rows, int dim) {
  float* d_A = nullptr;
  float* d_gamma = nullptr;
  float* d_beta = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, rows * dim * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_gamma, dim * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_beta, dim * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, rows * dim * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, rows * dim * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_gamma, gamma, dim * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_beta, beta, dim * sizeof(float), hipMemcpyHostToDevice));
  layernorm_wave<<<(rows + 3) / 4, dim3(64, 4)>>>(d_A, d_gamma, d_beta, d_C, rows, dim);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, rows * dim * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_gamma));
  HIP_CHECK(hipFree(d_beta));
  HIP_CHECK(hipFree(d_C));
}
