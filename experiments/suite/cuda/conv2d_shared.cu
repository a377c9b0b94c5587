// Convolution, NHWC: the block of an output pixel stages the input patch in shared memory, its threads are the output channels.
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

constexpr int OUT_SIZE = (SIZE - KERNEL) / STRIDE + 1;
constexpr int PATCH = KERNEL * KERNEL * IN_CHANNELS;

__global__ void conv_patch(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  __shared__ float patch[PATCH];
  const int ow = blockIdx.x, oh = blockIdx.y, n = blockIdx.z;
  for (int i = threadIdx.x; i < PATCH; i += blockDim.x) {
    const int c = i % IN_CHANNELS;
    const int kw = i / IN_CHANNELS % KERNEL;
    const int kh = i / (IN_CHANNELS * KERNEL);
    patch[i] = x[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * IN_CHANNELS + c];
  }
  __syncthreads();
  for (int o = threadIdx.x; o < OUT_CHANNELS; o += blockDim.x) {
    const float* weights = w + o * PATCH;
    float acc = 0.0f;
    for (int i = 0; i < PATCH; ++i) acc += patch[i] * weights[i];
    y[((n * OUT_SIZE + oh) * OUT_SIZE + ow) * OUT_CHANNELS + o] = acc;
  }
}

extern "C" void conv2d(const float* A, const float* B, float* C) {
  float *x, *w, *y;
  cudaMalloc(&x, sizeof(float) * BATCH * SIZE * SIZE * IN_CHANNELS);
  cudaMalloc(&w, sizeof(float) * OUT_CHANNELS * PATCH);
  cudaMalloc(&y, sizeof(float) * BATCH * OUT_SIZE * OUT_SIZE * OUT_CHANNELS);
  cudaMemcpy(x, A, sizeof(float) * BATCH * SIZE * SIZE * IN_CHANNELS, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, sizeof(float) * OUT_CHANNELS * PATCH, cudaMemcpyHostToDevice);
  conv_patch<<<dim3(OUT_SIZE, OUT_SIZE, BATCH), 64>>>(x, w, y);
  cudaMemcpy(C, y, sizeof(float) * BATCH * OUT_SIZE * OUT_SIZE * OUT_CHANNELS, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
