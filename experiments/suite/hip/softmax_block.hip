// Reductions of a block: shuffles within wavefronts, LDS between them; sizes are parameters.
#include <hip/hip_runtime.h>

struct MaxOp {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOp {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <int WAVES, class Op>
__device__ float block_reduce(float v, float identity, Op op) {
  __shared__ float partial[WAVES];
  __shared__ float total;
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
#pragma unroll
  for (int offset = 32; offset > 0; offset /= 2) v = op(v, __shfl_down(v, offset));
  if (lane == 0) partial[wave] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = identity;
    for (int w = 0; w < WAVES; ++w) all = op(all, partial[w]);
    total = all;
  }
  __syncthreads();
  const float result = total;
  __syncthreads();
  return result;
}

__global__ void softmax_block(const float* in, float* out, int cols) {
  const float* x = in + blockIdx.x * cols;
  float* y = out + blockIdx.x * cols;
  float peak = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 128) peak = fmaxf(peak, x[c]);
  peak = block_reduce<2>(peak, -INFINITY, MaxOp());
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 128) sum += expf(x[c] - peak);
  sum = block_reduce<2>(sum, 0.0f, SumOp());
  for (int c = threadIdx.x; c < cols; c += 128) y[c] = expf(x[c] - peak) / sum;
}

extern "C" void softmax(const float* A, float* C, int rows, int cols) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * rows * cols);
  hipMalloc(&dC, sizeof(float) * rows * cols);
  hipMemcpy(dA, A, sizeof(float) * rows * cols, hipMemcpyHostToDevice);
  softmax_block<<<rows, 128>>>(dA, dC, cols);
  hipMemcpy(C, dC, sizeof(float) * rows * cols, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
