// Softmax over the last axis in two passes: running maximum and rescaled running sum.
#include <cuda_runtime.h>
#include <float.h>

#ifndef ROWS
#define ROWS 45
#endif
#ifndef COLS
#define COLS 25
#endif

__global__ void online_softmax(const float* __restrict__ x, float* __restrict__ y, int rows) {
  const int stride = gridDim.x * blockDim.x;
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += stride) {
    const float* src = &x[r * COLS];
    float* dst = &y[r * COLS];
    float m = -FLT_MAX;
    float d = 0.0f;
    for (int j = 0; j < COLS; ++j) {
      const float v = src[j];
      const float m_new = fmaxf(m, v);
      d = d * expf(m - m_new) + expf(v - m_new);
      m = m_new;
    }
    const float scale = 1.0f / d;
    for (int j = 0; j < COLS; ++j) dst[j] = expf(src[j] - m) * scale;
  }
}

extern "C" void softmax(const float* A, float* C) {
  float *dx, *dy;
  const size_t bytes = static_cast<size_t>(ROWS) * COLS * sizeof(float);
  cudaMalloc(reinterpret_cast<void**>(&dx), bytes);
  cudaMalloc(reinterpret_cast<void**>(&dy), bytes);
  cudaMemcpy(dx, A, bytes, cudaMemcpyHostToDevice);
  online_softmax<<<8, 32>>>(dx, dy, ROWS);
  cudaMemcpy(C, dy, bytes, cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
}
