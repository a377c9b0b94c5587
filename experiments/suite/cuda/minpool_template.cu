// Minimum pooling, channels last: window and stride as template parameters, the comparison as a functor.
#include <cuda_runtime.h>
#include <math.h>

#ifndef BATCH
#define BATCH 5
#endif
#ifndef SIZE
#define SIZE 32
#endif
#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif

struct Less {
  __device__ static float start() { return INFINITY; }
  __device__ static float take(float best, float v) { return v < best ? v : best; }
};

template <typename Op, int WINDOW, int STEP>
__global__ void pool(const float* __restrict__ x, float* __restrict__ y, int size, int out, int channels) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  const int n = blockIdx.z;
  const int oh = blockIdx.x / out;
  const int ow = blockIdx.x % out;
  const float* corner = &x[((n * size + oh * STEP) * size + ow * STEP) * channels + c];
  float best = Op::start();
#pragma unroll
  for (int i = 0; i < WINDOW; ++i) {
#pragma unroll
    for (int j = 0; j < WINDOW; ++j) {
      best = Op::take(best, corner[(i * size + j) * channels]);
    }
  }
  y[((n * out + oh) * out + ow) * channels + c] = best;
}

extern "C" void minpool(const float* A, float* C) {
  const int out = (SIZE - KERNEL) / STRIDE + 1;
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS);
  cudaMalloc(&y, sizeof(float) * BATCH * out * out * CHANNELS);
  cudaMemcpy(x, A, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, cudaMemcpyHostToDevice);
  pool<Less, KERNEL, STRIDE><<<dim3(out * out, (CHANNELS + 31) / 32, BATCH), 32>>>(x, y, SIZE, out, CHANNELS);
  cudaMemcpy(C, y, sizeof(float) * BATCH * out * out * CHANNELS, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
