// Sum of every window, channels last: one thread for each output.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 1
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
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

__global__ void sumpool_kernel(const float* A, float* C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * OUT * OUT * CHANNELS) return;
  const int c = i % CHANNELS;
  const int ow = i / CHANNELS % OUT;
  const int oh = i / (CHANNELS * OUT) % OUT;
  const int n = i / (CHANNELS * OUT * OUT);
  float value = 0.0f;
  for (int kh = 0; kh < KERNEL; ++kh) {
    for (int kw = 0; kw < KERNEL; ++kw) {
      const float x = A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c];
      value += x;
    }
  }
  C[i] = value;
}

extern "C" void sumpool(const float* A, float* C) {
  float* d_A;
  float* d_C;
  hipMalloc(&d_A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float));
  hipMalloc(&d_C, BATCH * OUT * OUT * CHANNELS * sizeof(float));
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMemcpyAsync(d_A, A, BATCH * SIZE * SIZE * CHANNELS * sizeof(float), hipMemcpyHostToDevice, stream);
  sumpool_kernel<<<(BATCH * OUT * OUT * CHANNELS + 255) / 256, 256, 0, stream>>>(d_A, d_C);
  hipMemcpyAsync(C, d_C, BATCH * OUT * OUT * CHANNELS * sizeof(float), hipMemcpyDeviceToHost, stream);
  hipStreamSynchronize(stream);
  hipStreamDestroy(stream);
  hipFree(d_A);
  hipFree(d_C);
}
