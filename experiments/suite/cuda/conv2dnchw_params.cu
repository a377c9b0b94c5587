// Convolution, NCHW, of sizes known at the call; window and stride are template parameters chosen by the wrapper.
#include <cuda_runtime.h>

struct Shape {
  int batch, in_channels, out_channels, size, out;
};

template <int KERNEL>
__global__ void conv_window(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, Shape s, int stride) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const int oc = blockIdx.y;
  const int n = blockIdx.z;
  if (pixel >= s.out * s.out) return;
  const int oh = pixel / s.out, ow = pixel % s.out;
  float sum = 0.0f;
  for (int ic = 0; ic < s.in_channels; ++ic) {
    const float* plane = x + (n * s.in_channels + ic) * s.size * s.size;
    const float* taps = w + (oc * s.in_channels + ic) * KERNEL * KERNEL;
#pragma unroll
    for (int i = 0; i < KERNEL; ++i) {
#pragma unroll
      for (int j = 0; j < KERNEL; ++j) sum += plane[(oh * stride + i) * s.size + ow * stride + j] * taps[i * KERNEL + j];
    }
  }
  y[(n * s.out_channels + oc) * s.out * s.out + pixel] = sum;
}

extern "C" void conv2dnchw(const float* A, const float* B, float* C, int batch, int size, int in_channels, int out_channels, int kernel,
                           int stride) {
  const Shape s = {batch, in_channels, out_channels, size, (size - kernel) / stride + 1};
  const size_t x_bytes = sizeof(float) * batch * in_channels * size * size;
  const size_t w_bytes = sizeof(float) * out_channels * in_channels * kernel * kernel;
  const size_t y_bytes = sizeof(float) * batch * out_channels * s.out * s.out;
  float *x, *w, *y;
  cudaMalloc(&x, x_bytes);
  cudaMalloc(&w, w_bytes);
  cudaMalloc(&y, y_bytes);
  cudaMemcpy(x, A, x_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, w_bytes, cudaMemcpyHostToDevice);
  const dim3 grid((s.out * s.out + 31) / 32, out_channels, batch);
  if (kernel == 2)
    conv_window<2><<<grid, 32>>>(x, w, y, s, stride);
  else if (kernel == 3)
    conv_window<3><<<grid, 32>>>(x, w, y, s, stride);
  cudaMemcpy(C, y, y_bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
