// One-dimensional convolution of a length known at the call; the three taps are kept in registers, the launch strides over the outputs.
#include <cuda_runtime.h>

__global__ void conv1d_stride(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int out) {
  const float w0 = w[0], w1 = w[1], w2 = w[2];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < out; i += gridDim.x * blockDim.x) {
    y[i] = fmaf(x[i], w0, fmaf(x[i + 1], w1, x[i + 2] * w2));
  }
}

extern "C" void conv1d(const float* x, const float* w, float* y, int out) {
  float *dx, *dw, *dy;
  cudaMalloc(&dx, (out + 2) * sizeof(float));
  cudaMalloc(&dw, 3 * sizeof(float));
  cudaMalloc(&dy, out * sizeof(float));
  cudaMemcpy(dx, x, (out + 2) * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dw, w, 3 * sizeof(float), cudaMemcpyHostToDevice);
  conv1d_stride<<<2, 64>>>(dx, dw, dy, out);
  cudaMemcpy(y, dy, out * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dw);
  cudaFree(dy);
}
