// Sum pooling, channels last, four channels a thread where the channels allow it, one otherwise.
#include <cuda_runtime.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef SIZE
#define SIZE 56
#endif
#ifndef CHANNELS
#define CHANNELS 128
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif

constexpr int OUT = (SIZE - KERNEL) / STRIDE + 1;
constexpr int LANES = CHANNELS % 4 == 0 ? 4 : 1;
constexpr int GROUPS = CHANNELS / LANES;

__global__ void sum_quads(const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * OUT * OUT * GROUPS) return;
  const int g = i % GROUPS;
  const int pixel = i / GROUPS;
  const int ow = pixel % OUT, oh = pixel / OUT % OUT, n = pixel / (OUT * OUT);
  if (LANES == 4) {
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int kh = 0; kh < KERNEL; ++kh) {
      for (int kw = 0; kw < KERNEL; ++kw) {
        const float4 v = reinterpret_cast<const float4*>(x)[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * GROUPS + g];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
      }
    }
    reinterpret_cast<float4*>(y)[i] = sum;
  } else {
    float sum = 0.0f;
    for (int kh = 0; kh < KERNEL; ++kh)
      for (int kw = 0; kw < KERNEL; ++kw) sum += x[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + g];
    y[i] = sum;
  }
}

extern "C" void sumpool(const float* A, float* C) {
  const size_t in = sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, out = sizeof(float) * BATCH * OUT * OUT * CHANNELS;
  float *x, *y;
  cudaMalloc(&x, in);
  cudaMalloc(&y, out);
  cudaMemcpy(x, A, in, cudaMemcpyHostToDevice);
  const int threads = 128;
  sum_quads<<<(BATCH * OUT * OUT * GROUPS + threads - 1) / threads, threads>>>(x, y);
  cudaMemcpy(C, y, out, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
