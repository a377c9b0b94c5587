#include <hip/hip_runtime.h>

__inline__ __device__ float warp_reduce(float v) {
#pragma unroll
  for (int mask = warpSize >> 1; mask > 0; mask >>= 1) v += __shfl_xor(v, mask);
  return v; }
__inline__ __device__ float block_reduce(float v) { static __shared__ float shared[16]; int lane = threadIdx.x & (warpSize - 1), wid = threadIdx.x / warpSize; v = warp_reduce(v); if (lane == 0) shared[wid] = v; __syncthreads();
  v = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0.f; if (wid == 0) v = warp_reduce(v); __syncthreads(); return v; }
__global__ void layernorm(const float* x, const float* g, const float* b, float* y, int D) {
  __shared__ float mean, rstd; float s = 0, q = 0; const float* row = x + blockIdx.x * D;
  for (int i = threadIdx.x; i < D; i += blockDim.x) { float v = row[i]; s += v; q += v * v; }
  s = block_reduce(s); q = block_reduce(q);
  if (threadIdx.x == 0) { mean = s / D; rstd = rsqrtf(q / D - (s / D) * (s / D) + 1e-5f); } __syncthreads();
  for (int i = threadIdx.x; i < D; i += blockDim.x) y[blockIdx.x * D + i] = (row[i] - mean) * rstd * g[i] + b[i]; }
extern "C" void ln(const float* x, const float* g, const float* b, float* y) { const int R = 16, D = 500; float *dx, *dg, *db, *dy; hipMalloc(&dx, R * D * 4); hipMalloc(&dg, D * 4); hipMalloc(&db, D * 4); hipMalloc(&dy, R * D * 4);
 hipMemcpy(dx, x, R * D * 4, hipMemcpyHostToDevice); hipMemcpy(dg, g, D * 4, hipMemcpyHostToDevice); hipMemcpy(db, b, D * 4, hipMemcpyHostToDevice); layernorm<<<dim3(R), dim3(256)>>>(dx, dg, db, dy, D); hipMemcpy(y, dy, R * D * 4, hipMemcpyDeviceToHost); hipFree(dx); hipFree(dg); hipFree(db); hipFree(dy); }
