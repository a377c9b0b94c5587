// GELU, tanh form; grid-stride loop over any number of elements, constants in double as real code often has them.
#include <cuda_runtime.h>
#include <cmath>

#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__device__ float gelu_scalar(float x) {
  const float cubed = x * x * x;
  return x * (0.5 * (1.0 + tanhf(sqrtf(2.0f / 3.14159265358979f) * (x + 0.044715f * cubed))));
}

__global__ void gelu_loop(const float* __restrict__ in, float* __restrict__ out, int n) {
  CUDA_KERNEL_LOOP(i, n) { out[i] = gelu_scalar(in[i]); }
}

extern "C" void gelu(const float* A, float* C, int n) {
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, A, n * sizeof(float), cudaMemcpyHostToDevice);
  gelu_loop<<<16, 128>>>(in, out, n);
  cudaMemcpy(C, out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
