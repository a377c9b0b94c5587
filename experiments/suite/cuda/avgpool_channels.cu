// Average pooling, channels last: a block for each output pixel, its threads walk over the channels; the divisor as a reciprocal.
#include <cuda_runtime.h>

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
constexpr float kScale = 1.0f / (KERNEL * KERNEL);

__global__ void avg_pixel(const float* __restrict__ x, float* __restrict__ y) {
  const int ox = blockIdx.x % OUT;
  const int oy = blockIdx.x / OUT;
  const int image = blockIdx.y;
  for (int c = threadIdx.x; c < CHANNELS; c += blockDim.x) {
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < KERNEL * KERNEL; ++k) {
      const int row = oy * STRIDE + k / KERNEL;
      const int col = ox * STRIDE + k % KERNEL;
      sum += x[((image * SIZE + row) * SIZE + col) * CHANNELS + c];
    }
    y[((image * OUT + oy) * OUT + ox) * CHANNELS + c] = sum * kScale;
  }
}

extern "C" void avgpool(const float* A, float* C) {
  const size_t in_bytes = sizeof(float) * BATCH * SIZE * SIZE * CHANNELS;
  const size_t out_bytes = sizeof(float) * BATCH * OUT * OUT * CHANNELS;
  float *x, *y;
  cudaMalloc(&x, in_bytes);
  cudaMalloc(&y, out_bytes);
  cudaMemcpy(x, A, in_bytes, cudaMemcpyHostToDevice);
  avg_pixel<<<dim3(OUT * OUT, BATCH), 64>>>(x, y);
  cudaMemcpy(C, y, out_bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
