// Convolution, NHWC, of unsigned and signed bytes, summed in 32 bits.
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
#define OUT_CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 2
#endif

#define OUT_SIZE ((SIZE - KERNEL) / STRIDE + 1)

__global__ void conv_bytes(const unsigned char* __restrict__ x, const signed char* __restrict__ w, int* __restrict__ y) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= BATCH * OUT_SIZE * OUT_SIZE * OUT_CHANNELS) return;
  const int o = id % OUT_CHANNELS;
  const int ow = id / OUT_CHANNELS % OUT_SIZE;
  const int oh = id / (OUT_CHANNELS * OUT_SIZE) % OUT_SIZE;
  const int n = id / (OUT_CHANNELS * OUT_SIZE * OUT_SIZE);
  int sum = 0;
  for (int i = 0; i < KERNEL; ++i) {
    for (int j = 0; j < KERNEL; ++j) {
      for (int c = 0; c < IN_CHANNELS; ++c) {
        const int a = x[((n * SIZE + oh * STRIDE + i) * SIZE + ow * STRIDE + j) * IN_CHANNELS + c];
        const int b = w[((o * KERNEL + i) * KERNEL + j) * IN_CHANNELS + c];
        sum += a * b;
      }
    }
  }
  y[id] = sum;
}

extern "C" void conv2d(const unsigned char* A, const signed char* B, int* C) {
  const int in_count = BATCH * SIZE * SIZE * IN_CHANNELS;
  const int w_count = OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS;
  const int out_count = BATCH * OUT_SIZE * OUT_SIZE * OUT_CHANNELS;
  unsigned char* x;
  signed char* w;
  int* y;
  cudaMalloc(&x, in_count);
  cudaMalloc(&w, w_count);
  cudaMalloc(&y, out_count * sizeof(int));
  cudaMemcpy(x, A, in_count, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, w_count, cudaMemcpyHostToDevice);
  conv_bytes<<<(out_count + 127) / 128, 128>>>(x, w, y);
  cudaMemcpy(C, y, out_count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
