// Elementwise sum, float4 at a time; a scalar loop finishes what is left.
#include <cuda_runtime.h>

#ifndef N
#define N 2304
#endif
#define FLOAT4(p) (reinterpret_cast<float4*>(&(p))[0])

__global__ void add_vec4(float* a, float* b, float* c) {
  int idx = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (idx + 3 < N) {
    float4 va = FLOAT4(a[idx]);
    float4 vb = FLOAT4(b[idx]);
    float4 vc = make_float4(va.x + vb.x, va.y + vb.y, va.z + vb.z, va.w + vb.w);
    FLOAT4(c[idx]) = vc;
  } else {
    for (int i = idx; i < N; i++) c[i] = a[i] + b[i];
  }
}

extern "C" void add(const float* A, const float* B, float* C) {
  float *a, *b, *c;
  cudaMalloc(&a, sizeof(float) * N);
  cudaMalloc(&b, sizeof(float) * N);
  cudaMalloc(&c, sizeof(float) * N);
  cudaMemcpy(a, A, sizeof(float) * N, cudaMemcpyHostToDevice);
  cudaMemcpy(b, B, sizeof(float) * N, cudaMemcpyHostToDevice);
  const int per_block = 64 * 4;
  add_vec4<<<(N + per_block - 1) / per_block, 64>>>(a, b, c);
  cudaMemcpy(C, c, sizeof(float) * N, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
