// Convolution, NHWC, sizes at run time, one flat index for each output element; written for padding too, called without.
#include <cuda_runtime.h>

__global__ void conv_forward(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int batch, int height,
                             int in_channels, int out_channels, int kernel, int stride, int pad) {
  const int out = (height + 2 * pad - kernel) / stride + 1;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= batch * out * out * out_channels) return;
  const int o = index % out_channels;
  const int ow = index / out_channels % out;
  const int oh = index / (out_channels * out) % out;
  const int n = index / (out_channels * out * out);
  float acc = 0.0f;
  for (int i = 0; i < kernel; ++i) {
    const int ih = oh * stride + i - pad;
    if (ih < 0 || ih >= height) continue;
    for (int j = 0; j < kernel; ++j) {
      const int iw = ow * stride + j - pad;
      if (iw < 0 || iw >= height) continue;
      for (int c = 0; c < in_channels; ++c)
        acc += x[((n * height + ih) * height + iw) * in_channels + c] * w[((o * kernel + i) * kernel + j) * in_channels + c];
    }
  }
  y[index] = acc;
}

extern "C" void conv2d(const float* A, const float* B, float* C, int batch, int size, int in_channels, int out_channels, int kernel,
                       int stride) {
  const int out = (size - kernel) / stride + 1;
  const int total = batch * out * out * out_channels;
  float *x, *w, *y;
  cudaMalloc(&x, sizeof(float) * batch * size * size * in_channels);
  cudaMalloc(&w, sizeof(float) * out_channels * kernel * kernel * in_channels);
  cudaMalloc(&y, sizeof(float) * total);
  cudaMemcpy(x, A, sizeof(float) * batch * size * size * in_channels, cudaMemcpyHostToDevice);
  cudaMemcpy(w, B, sizeof(float) * out_channels * kernel * kernel * in_channels, cudaMemcpyHostToDevice);
  conv_forward<<<(total + 127) / 128, 128>>>(x, w, y, batch, size, in_channels, out_channels, kernel, stride, 0);
  cudaMemcpy(C, y, sizeof(float) * total, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
