// One-dimensional convolution: weights in constant memory, the tile of inputs with its halo in shared memory.
#include <cuda_runtime.h>

#ifndef OUT
#define OUT 256
#endif

#define RADIUS_TAPS 3
#define TILE 64

__constant__ float weights[RADIUS_TAPS];

__global__ void conv1d_tile(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ float tile[TILE + RADIUS_TAPS - 1];
  const int base = blockIdx.x * TILE;
  const int t = threadIdx.x;
  if (base + t < OUT + RADIUS_TAPS - 1) tile[t] = input[base + t];
  if (t < RADIUS_TAPS - 1 && base + TILE + t < OUT + RADIUS_TAPS - 1) tile[TILE + t] = input[base + TILE + t];
  __syncthreads();
  if (base + t < OUT) {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < RADIUS_TAPS; ++j) sum += tile[t + j] * weights[j];
    output[base + t] = sum;
  }
}

extern "C" void conv1d(const float* x, const float* w, float* y) {
  float *input, *output;
  cudaMalloc(&input, sizeof(float) * (OUT + RADIUS_TAPS - 1));
  cudaMalloc(&output, sizeof(float) * OUT);
  cudaMemcpyToSymbol(weights, w, sizeof(float) * RADIUS_TAPS);
  cudaMemcpy(input, x, sizeof(float) * (OUT + RADIUS_TAPS - 1), cudaMemcpyHostToDevice);
  conv1d_tile<<<(OUT + TILE - 1) / TILE, TILE>>>(input, output);
  cudaMemcpy(y, output, sizeof(float) * OUT, cudaMemcpyDeviceToHost);
  cudaFree(input);
  cudaFree(output);
}
