// The window's side is a template parameter, its weights sit in registers; sizes are parameters.
#include <hip/hip_runtime.h>

template <int SIDE>
__device__ __forceinline__ float window_sum(const float* image, const float* weight, int size, int side) {
  float sum = 0.0f;
  if (SIDE > 0) {
#pragma unroll
    for (int kh = 0; kh < SIDE; ++kh) {
#pragma unroll
      for (int kw = 0; kw < SIDE; ++kw) sum += image[kh * size + kw] * weight[kh * SIDE + kw];
    }
  } else {
    for (int kh = 0; kh < side; ++kh) {
      for (int kw = 0; kw < side; ++kw) sum += image[kh * size + kw] * weight[kh * side + kw];
    }
  }
  return sum;
}

template <int SIDE>
__global__ __launch_bounds__(128) void conv2dnchw_window(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                                         int size, int in_channels, int out_channels, int side, int stride, int out,
                                                         int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int ow = i % out, oh = i / out % out;
  const int oc = i / (out * out) % out_channels;
  const int n = i / (out * out * out_channels);
  float sum = 0.0f;
  for (int ic = 0; ic < in_channels; ++ic) {
    const float* image = A + ((n * in_channels + ic) * size + oh * stride) * size + ow * stride;
    sum += window_sum<SIDE>(image, B + (oc * in_channels + ic) * side * side, size, side);
  }
  C[i] = sum;
}

static void launch_window(const float* A, const float* B, float* C, int size, int in_channels, int out_channels, int side, int stride, int out,
                          int total) {
  const int blocks = (total + 127) / 128;
  if (side == 2) {
    conv2dnchw_window<2><<<blocks, 128>>>(A, B, C, size, in_channels, out_channels, side, stride, out, total);
  } else if (side == 3) {
    conv2dnchw_window<3><<<blocks, 128>>>(A, B, C, size, in_channels, out_channels, side, stride, out, total);
  } else {
    conv2dnchw_window<0><<<blocks, 128>>>(A, B, C, size, in_channels, out_channels, side, stride, out, total);
  }
}

extern "C" void conv2dnchw(const float* A, const float* B, float* C, int batch, int size, int in_channels,
                           int out_channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
  const size_t image = (size_t)batch * size * size * in_channels;
  const size_t weight = (size_t)out_channels * kernel * kernel * in_channels;
  const size_t result = (size_t)batch * out * out * out_channels;
  float* dA;
  float* dB;
  float* dC;
  hipMalloc(&dA, sizeof(float) * image);
  hipMalloc(&dB, sizeof(float) * weight);
  hipMalloc(&dC, sizeof(float) * result);
  hipMemcpy(dA, A, sizeof(float) * image, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, sizeof(float) * weight, hipMemcpyHostToDevice);
  launch_window(dA, dB, dC, size, in_channels, out_channels, kernel, stride, out, (int)result);
  hipMemcpy(C, dC, sizeof(float) * result, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
