// Sum pooling, channels last: one block row for each output row, threads over columns and channels.
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
#define KERNEL 3
#endif
#ifndef STRIDE
#define STRIDE 2
#endif

#define OUT ((SIZE - KERNEL) / STRIDE + 1)

__global__ void sumpool_rows(const float* x, float* y) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int oh = blockIdx.y;
  int n = blockIdx.z;
  if (t < OUT * CHANNELS) {
    int ow = t / CHANNELS;
    int c = t - ow * CHANNELS;
    const float* top = x + (n * SIZE + oh * STRIDE) * SIZE * CHANNELS + ow * STRIDE * CHANNELS + c;
    float total = 0.0f;
    for (int kh = 0; kh < KERNEL; kh++) {
      for (int kw = 0; kw < KERNEL; kw++) {
        total += top[kw * CHANNELS];
      }
      top += SIZE * CHANNELS;
    }
    y[(n * OUT + oh) * OUT * CHANNELS + t] = total;
  }
}

extern "C" void sumpool(const float* A, float* C) {
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS);
  cudaMalloc(&y, sizeof(float) * BATCH * OUT * OUT * CHANNELS);
  cudaMemcpy(x, A, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, cudaMemcpyHostToDevice);
  dim3 grid((OUT * CHANNELS + 127) / 128, OUT, BATCH);
  sumpool_rows<<<grid, 128>>>(x, y);
  cudaMemcpy(C, y, sizeof(float) * BATCH * OUT * OUT * CHANNELS, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
