// Root-mean-square normalisation, a block for each row: warps reduce by shuffles, the first warp adds up what they found.
#include <cuda_runtime.h>

#ifndef ROWS
#define ROWS 2048
#endif
#ifndef COLS
#define COLS 4096
#endif

#define THREADS 256
#define FULL_MASK 0xffffffffu

__inline__ __device__ float warpReduceSum(float val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x % warpSize;
  int wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0.0f;
  if (wid == 0) val = warpReduceSum(val);
  return val;
}

__global__ void rmsnorm_kernel(const float* __restrict__ in, float* __restrict__ out, float eps) {
  __shared__ float s_inv;
  const float* row_in = in + (size_t)blockIdx.x * COLS;
  float* row_out = out + (size_t)blockIdx.x * COLS;
  float ss = 0.0f;
  for (int i = threadIdx.x; i < COLS; i += blockDim.x) {
    const float v = row_in[i];
    ss += v * v;
  }
  ss = blockReduceSum(ss);
  if (threadIdx.x == 0) s_inv = rsqrtf(ss / COLS + eps);
  __syncthreads();
  for (int i = threadIdx.x; i < COLS; i += blockDim.x) row_out[i] = row_in[i] * s_inv;
}

extern "C" void rmsnorm(const float* A, float* C) {
  float *d_in = nullptr, *d_out = nullptr;
  const size_t bytes = sizeof(float) * ROWS * COLS;
  cudaMalloc(&d_in, bytes);
  cudaMalloc(&d_out, bytes);
  cudaMemcpy(d_in, A, bytes, cudaMemcpyHostToDevice);
  rmsnorm_kernel<<<ROWS, THREADS>>>(d_in, d_out, 1e-5f);
  cudaDeviceSynchronize();
  cudaMemcpy(C, d_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
}
