// Softmax over the last axis: a block for each row, warp shuffles and one shared value per warp.
#include <cuda_runtime.h>
#include <math.h>

#ifndef ROWS
#define ROWS 45
#endif
#ifndef COLS
#define COLS 25
#endif
#define WARP 32
#define BLOCK 128

__inline__ __device__ float warpReduceMax(float val) {
  for (int offset = WARP / 2; offset > 0; offset /= 2) {
    val = fmaxf(val, __shfl_down_sync(0xffffffff, val, offset));
  }
  return val;
}

__inline__ __device__ float warpReduceSum(float val) {
  for (int offset = WARP / 2; offset > 0; offset /= 2) {
    val += __shfl_down_sync(0xffffffff, val, offset);
  }
  return val;
}

__inline__ __device__ float blockReduceMax(float val) {
  static __shared__ float shared[WARP];
  int lane = threadIdx.x % WARP;
  int wid = threadIdx.x / WARP;
  val = warpReduceMax(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < BLOCK / WARP) ? shared[lane] : -INFINITY;
  if (wid == 0) val = warpReduceMax(val);
  return val;
}

__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[WARP];
  int lane = threadIdx.x % WARP;
  int wid = threadIdx.x / WARP;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < BLOCK / WARP) ? shared[lane] : 0.0f;
  if (wid == 0) val = warpReduceSum(val);
  return val;
}

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float row_max;
  __shared__ float row_sum;
  const float* in = x + blockIdx.x * COLS;
  float* out = y + blockIdx.x * COLS;

  float local_max = -INFINITY;
  for (int i = threadIdx.x; i < COLS; i += BLOCK) local_max = fmaxf(local_max, in[i]);
  local_max = blockReduceMax(local_max);
  if (threadIdx.x == 0) row_max = local_max;
  __syncthreads();

  float local_sum = 0.0f;
  for (int i = threadIdx.x; i < COLS; i += BLOCK) local_sum += expf(in[i] - row_max);
  local_sum = blockReduceSum(local_sum);
  if (threadIdx.x == 0) row_sum = local_sum;
  __syncthreads();

  for (int i = threadIdx.x; i < COLS; i += BLOCK) out[i] = expf(in[i] - row_max) / row_sum;
}

extern "C" void softmax(const float* A, float* C) {
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * ROWS * COLS);
  cudaMalloc(&y, sizeof(float) * ROWS * COLS);
  cudaMemcpy(x, A, sizeof(float) * ROWS * COLS, cudaMemcpyHostToDevice);
  softmax_rows<<<ROWS, BLOCK>>>(x, y);
  cudaMemcpy(C, y, sizeof(float) * ROWS * COLS, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
