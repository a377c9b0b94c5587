// Softmax over the last axis for any number of rows and columns: a warp for each row, butterfly shuffles.
#include <cuda_runtime.h>
#include <cfloat>
#include <cmath>

constexpr unsigned FULL = 0xffffffffu;
constexpr int WARPS = 4;

template <typename Op>
__device__ float warp_all(float value, Op op) {
#pragma unroll
  for (int mask = 16; mask >= 1; mask >>= 1) value = op(value, __shfl_xor_sync(FULL, value, mask));
  return value;
}

struct Max {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

__global__ void softmax_per_warp(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  const int lane = threadIdx.x & 31;
  const int row = blockIdx.x * WARPS + (threadIdx.x >> 5);
  if (row >= rows) return;
  float largest = -FLT_MAX;
  for (int c = lane; c < cols; c += 32) largest = fmaxf(largest, in[row * cols + c]);
  largest = warp_all(largest, Max());
  float total = 0.0f;
  for (int c = lane; c < cols; c += 32) total += expf(in[row * cols + c] - largest);
  total = warp_all(total, Sum());
  for (int c = lane; c < cols; c += 32) out[row * cols + c] = expf(in[row * cols + c] - largest) / total;
}

extern "C" void softmax(const float* A, float* C, int rows, int cols) {
  float *in, *out;
  const size_t bytes = sizeof(float) * rows * cols;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, A, bytes, cudaMemcpyHostToDevice);
  softmax_per_warp<<<(rows + WARPS - 1) / WARPS, WARPS * 32>>>(in, out, rows, cols);
  cudaMemcpy(C, out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
