// Max pooling, NHWC, square window, no padding; one thread for each output element.
#include <cuda_runtime.h>
#include <float.h>

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

__global__ void maxpool_kernel(const float* input, float* output) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= TOTAL) return;
  int c = idx % CHANNELS;
  int ow = (idx / CHANNELS) % OUT;
  int oh = (idx / (CHANNELS * OUT)) % OUT;
  int n = idx / (CHANNELS * OUT * OUT);
  float best = -FLT_MAX;
  for (int i = 0; i < KERNEL; i++) {
    for (int j = 0; j < KERNEL; j++) {
      int h = oh * STRIDE + i;
      int w = ow * STRIDE + j;
      best = fmaxf(best, input[((n * SIZE + h) * SIZE + w) * CHANNELS + c]);
    }
  }
  output[idx] = best;
}

extern "C" void maxpool(const float* A, float* C) {
  float *d_in, *d_out;
  cudaMalloc(&d_in, BATCH * SIZE * SIZE * CHANNELS * sizeof(float));
  cudaMalloc(&d_out, TOTAL * sizeof(float));
  cudaMemcpy(d_in, A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  maxpool_kernel<<<(TOTAL + 255) / 256, 256>>>(d_in, d_out);
  cudaMemcpy(C, d_out, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
}
