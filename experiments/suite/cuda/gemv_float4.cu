// y = A * x, a warp for each row, four columns a load; the columns that are left are taken one by one.
#include <cuda_runtime.h>

#ifndef M
#define M 125
#endif
#ifndef K
#define K 320
#endif

__global__ void gemv_vec4(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y) {
  const int row = blockIdx.x;
  const int lane = threadIdx.x;
  float acc = 0.0f;
  if (K % 4 == 0) {
    const float4* a4 = reinterpret_cast<const float4*>(A + row * K);
    const float4* x4 = reinterpret_cast<const float4*>(x);
    for (int i = lane; i < K / 4; i += 32) {
      const float4 a = a4[i];
      const float4 b = x4[i];
      acc += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
  } else {
    for (int i = lane; i < K; i += 32) acc += A[row * K + i] * x[i];
  }
  for (int mask = 16; mask >= 1; mask /= 2) acc += __shfl_xor_sync(0xffffffffu, acc, mask);
  if (lane == 0) y[row] = acc;
}

extern "C" void gemv(const float* A, const float* x, float* y) {
  float *dA, *dx, *dy;
  cudaMalloc((void**)&dA, M * K * sizeof(float));
  cudaMalloc((void**)&dx, K * sizeof(float));
  cudaMalloc((void**)&dy, M * sizeof(float));
  cudaMemcpy(dA, A, M * K * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x, K * sizeof(float), cudaMemcpyHostToDevice);
  gemv_vec4<<<M, 32>>>(dA, dx, dy);
  cudaDeviceSynchronize();
  cudaMemcpy(y, dy, M * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dx);
  cudaFree(dy);
}
