// Average pooling, channels last: a thread for each output element.
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

#define OUT ((SIZE - KERNEL) / STRIDE + 1)
#define TOTAL (BATCH * OUT * OUT * CHANNELS)

__global__ void avgpool_kernel(const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= TOTAL) return;
  const int c = i % CHANNELS;
  const int ow = i / CHANNELS % OUT;
  const int oh = i / (CHANNELS * OUT) % OUT;
  const int n = i / (CHANNELS * OUT * OUT);
  float acc = 0.0f;
  for (int kh = 0; kh < KERNEL; ++kh) {
    for (int kw = 0; kw < KERNEL; ++kw) {
      const float v = x[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c];
      acc += v;
    }
  }
  y[i] = acc / (KERNEL * KERNEL);
}

extern "C" void avgpool(const float* A, float* C) {
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS);
  cudaMalloc(&y, sizeof(float) * TOTAL);
  cudaMemcpy(x, A, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, cudaMemcpyHostToDevice);
  avgpool_kernel<<<(TOTAL + 255) / 256, 256>>>(x, y);
  cudaMemcpy(C, y, sizeof(float) * TOTAL, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
