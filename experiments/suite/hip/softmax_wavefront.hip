// A wavefront of 64 lanes for each row, butterfly shuffles for maximum and sum.
#include <hip/hip_runtime.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

#define WAVE 64

__device__ inline float wave_max(float v) {
  for (int mask = WAVE / 2; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor(v, mask, WAVE));
  return v;
}

__device__ inline float wave_sum(float v) {
  for (int mask = WAVE / 2; mask > 0; mask >>= 1) v += __shfl_xor(v, mask, WAVE);
  return v;
}

__global__ __launch_bounds__(256) void softmax_wave(const float* __restrict__ A, float* __restrict__ C) {
  const int lane = threadIdx.x & (WAVE - 1);
  const int row = blockIdx.x * (blockDim.x / WAVE) + threadIdx.x / WAVE;
  if (row >= ROWS) return;
  const float* in = A + row * COLS;
  float* out = C + row * COLS;
  float peak = -INFINITY;
  for (int c = lane; c < COLS; c += WAVE) peak = fmaxf(peak, in[c]);
  peak = wave_max(peak);
  float sum = 0.0f;
  for (int c = lane; c < COLS; c += WAVE) {
    const float e = expf(in[c] - peak);
    out[c] = e;
    sum += e;
  }
  const float scale = 1.0f / wave_sum(sum);
  for (int c = lane; c < COLS; c += WAVE) out[c] *= scale;
}

extern "C" void softmax(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc((void**)&dA, ROWS * COLS * sizeof(float));
  hipMalloc((void**)&dC, ROWS * COLS * sizeof(float));
  hipMemcpy(dA, A, ROWS * COLS * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(softmax_wave, dim3((ROWS + 3) / 4), dim3(256), 0, 0, dA, dC);
  hipMemcpy(C, dC, ROWS * COLS * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
