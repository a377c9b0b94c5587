// Convolution, NCHW: a thread for each output element, its coordinates taken apart from one index.
#include <cuda_runtime.h>

#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 64
#endif
#ifndef OUT_CHANNELS
#define OUT_CHANNELS 128
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 2
#endif

#define OUT_SIZE ((SIZE - KERNEL) / STRIDE + 1)
#define OUTPUTS (BATCH * OUT_CHANNELS * OUT_SIZE * OUT_SIZE)

__global__ void conv_nchw(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= OUTPUTS) return;
  const int ow = index % OUT_SIZE;
  const int oh = (index / OUT_SIZE) % OUT_SIZE;
  const int oc = (index / (OUT_SIZE * OUT_SIZE)) % OUT_CHANNELS;
  const int n = index / (OUT_SIZE * OUT_SIZE * OUT_CHANNELS);
  float sum = 0.0f;
  for (int ic = 0; ic < IN_CHANNELS; ++ic) {
    for (int kh = 0; kh < KERNEL; ++kh) {
      for (int kw = 0; kw < KERNEL; ++kw) {
        const int ih = oh * STRIDE + kh;
        const int iw = ow * STRIDE + kw;
        sum += x[((n * IN_CHANNELS + ic) * SIZE + ih) * SIZE + iw] * w[((oc * IN_CHANNELS + ic) * KERNEL + kh) * KERNEL + kw];
      }
    }
  }
  y[index] = sum;
}

extern "C" void conv2dnchw(const float* A, const float* B, float* C) {
  const size_t x_bytes = sizeof(float) * BATCH * IN_CHANNELS * SIZE * SIZE;
  const size_t w_bytes = sizeof(float) * OUT_CHANNELS * IN_CHANNELS * KERNEL * KERNEL;
  const size_t y_bytes = sizeof(float) * OUTPUTS;
  float *x, *w, *y;
  cudaMalloc(&x, x_bytes);
  cudaMalloc(&w, w_bytes);
  cudaMalloc(&y, y_bytes);
  cudaMemcpy(x, A, x_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, w_bytes, cudaMemcpyHostToDevice);
  const int threads = 256;
  conv_nchw<<<(OUTPUTS + threads - 1) / threads, threads>>>(x, w, y);
  cudaMemcpy(C, y, y_bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
