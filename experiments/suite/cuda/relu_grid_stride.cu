// ReLU for a length known at the call: a grid-stride loop, the activation a device lambda's stand-in.
#include <cuda_runtime.h>
#include <algorithm>

#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

template <typename scalar_t>
__global__ void relu_forward(const int n, const scalar_t* __restrict__ in, scalar_t* __restrict__ out) {
  KERNEL_LOOP(i, n) {
    const scalar_t value = in[i];
    out[i] = value < scalar_t(0) ? scalar_t(0) : value;
  }
}

extern "C" void relu(const float* A, float* C, int n) {
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, A, n * sizeof(float), cudaMemcpyHostToDevice);
  const int threads = 128;
  const int blocks = std::min((n + threads - 1) / threads, 16);
  relu_forward<float><<<blocks, threads>>>(n, in, out);
  cudaMemcpy(C, out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
