// GELU, tanh form; four elements at a time through float4, the last few one by one.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 4608
#endif

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char* file, int line, bool abort = true) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    if (abort) exit(code);
  }
}

__device__ __forceinline__ float gelu_one(float x) {
  float inner = 0.79788456f * fmaf(0.044715f * x * x, x, x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

__global__ void gelu_vec4(const float* x, float* y) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int packs = N / 4;
  if (t < packs) {
    const float4 v = reinterpret_cast<const float4*>(x)[t];
    float4 r;
    r.x = gelu_one(v.x);
    r.y = gelu_one(v.y);
    r.z = gelu_one(v.z);
    r.w = gelu_one(v.w);
    reinterpret_cast<float4*>(y)[t] = r;
  }
  if (t < N % 4) {
    y[packs * 4 + t] = gelu_one(x[packs * 4 + t]);
  }
}

extern "C" void gelu(const float* A, float* C) {
  float *x, *y;
  gpuErrchk(cudaMalloc(&x, N * sizeof(float)));
  gpuErrchk(cudaMalloc(&y, N * sizeof(float)));
  gpuErrchk(cudaMemcpy(x, A, N * sizeof(float), cudaMemcpyHostToDevice));
  const int threads = 128;
  gelu_vec4<<<(N / 4 + threads) / threads, threads>>>(x, y);
  gpuErrchk(cudaPeekAtLastError());
  gpuErrchk(cudaDeviceSynchronize());
  gpuErrchk(cudaMemcpy(C, y, N * sizeof(float), cudaMemcpyDeviceToHost));
  gpuErrchk(cudaFree(x));
  gpuErrchk(cudaFree(y));
}
