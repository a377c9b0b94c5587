// Max pooling, NHWC: a block for each output pixel, its threads walk over the channels.
#include <cuda_runtime.h>
#include <math.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef SIZE
#define SIZE 8
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

constexpr int OUT = (SIZE - KERNEL) / STRIDE + 1;

__global__ void pool_pixel(const float* __restrict__ x, float* __restrict__ y) {
  const int ox = blockIdx.x;
  const int oy = blockIdx.y;
  const int image = blockIdx.z;
  const float* window = x + ((image * SIZE + oy * STRIDE) * SIZE + ox * STRIDE) * CHANNELS;
  float* pixel = y + ((image * OUT + oy) * OUT + ox) * CHANNELS;
  for (int c = threadIdx.x; c < CHANNELS; c += blockDim.x) {
    float m = -INFINITY;
#pragma unroll
    for (int dy = 0; dy < KERNEL; ++dy) {
#pragma unroll
      for (int dx = 0; dx < KERNEL; ++dx) {
        const float v = window[(dy * SIZE + dx) * CHANNELS + c];
        m = v > m ? v : m;
      }
    }
    pixel[c] = m;
  }
}

extern "C" void maxpool(const float* A, float* C) {
  const size_t in_bytes = sizeof(float) * BATCH * SIZE * SIZE * CHANNELS;
  const size_t out_bytes = sizeof(float) * BATCH * OUT * OUT * CHANNELS;
  float *x, *y;
  cudaMalloc(&x, in_bytes);
  cudaMalloc(&y, out_bytes);
  cudaMemcpy(x, A, in_bytes, cudaMemcpyHostToDevice);
  pool_pixel<<<dim3(OUT, OUT, BATCH), 64>>>(x, y);
  cudaMemcpy(C, y, out_bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
