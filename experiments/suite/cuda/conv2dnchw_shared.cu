// Convolution, NCHW: a block for each image and output channel stages the filter in dynamic shared memory, its threads are the pixels.
#include <cuda_runtime.h>

#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 128
#endif
#ifndef OUT_CHANNELS
#define OUT_CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 3
#endif

constexpr int OUT = (SIZE - KERNEL) / STRIDE + 1;
constexpr int FILTER = IN_CHANNELS * KERNEL * KERNEL;

__global__ void conv_filter(const float* x, const float* w, float* y) {
  extern __shared__ float filter[];
  const int oc = blockIdx.x;
  const int n = blockIdx.y;
  const int ty = threadIdx.y, tx = threadIdx.x;
  for (int i = ty * blockDim.x + tx; i < FILTER; i += blockDim.x * blockDim.y) filter[i] = w[oc * FILTER + i];
  __syncthreads();
  const float* image = x + n * IN_CHANNELS * SIZE * SIZE;
  float acc = 0.f;
  for (int c = 0; c < IN_CHANNELS; ++c) {
#pragma unroll
    for (int i = 0; i < KERNEL; ++i)
#pragma unroll
      for (int j = 0; j < KERNEL; ++j)
        acc += image[(c * SIZE + ty * STRIDE + i) * SIZE + tx * STRIDE + j] * filter[(c * KERNEL + i) * KERNEL + j];
  }
  y[((n * OUT_CHANNELS + oc) * OUT + ty) * OUT + tx] = acc;
}

extern "C" void conv2dnchw(const float* A, const float* B, float* C) {
  float *x, *w, *y;
  cudaMalloc(&x, sizeof(float) * BATCH * IN_CHANNELS * SIZE * SIZE);
  cudaMalloc(&w, sizeof(float) * OUT_CHANNELS * FILTER);
  cudaMalloc(&y, sizeof(float) * BATCH * OUT_CHANNELS * OUT * OUT);
  cudaMemcpy(x, A, sizeof(float) * BATCH * IN_CHANNELS * SIZE * SIZE, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, sizeof(float) * OUT_CHANNELS * FILTER, cudaMemcpyHostToDevice);
  dim3 grid(OUT_CHANNELS, BATCH);
  dim3 block(OUT, OUT);
  conv_filter<<<grid, block, FILTER * sizeof(float)>>>(x, w, y);
  cudaMemcpy(C, y, sizeof(float) * BATCH * OUT_CHANNELS * OUT * OUT, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
