// A grid-stride loop over the outputs; sizes are parameters.
#include <hip/hip_runtime.h>

__global__ void conv2d_stride(const float* A, const float* B, float* C, int batch, int size, int in_channels, int out_channels, int kernel,
                              int stride, int out) {
  const int total = batch * out * out * out_channels;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
    int rest = i;
    const int oc = rest % out_channels;
    rest /= out_channels;
    const int ow = rest % out;
    rest /= out;
    const int oh = rest % out;
    const int n = rest / out;
    float sum = 0.0f;
    for (int kh = 0; kh < kernel; ++kh) {
      for (int kw = 0; kw < kernel; ++kw) {
        for (int ic = 0; ic < in_channels; ++ic) {
          sum += A[((n * size + oh * stride + kh) * size + ow * stride + kw) * in_channels + ic] *
                 B[((oc * kernel + kh) * kernel + kw) * in_channels + ic];
        }
      }
    }
    C[i] = sum;
  }
}

extern "C" void conv2d(const float* A, const float* B, float* C, int batch, int size, int in_channels,
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
  conv2d_stride<<<64, 256>>>(dA, dB, dC, batch, size, in_channels, out_channels, kernel, stride, out);
  hipMemcpy(C, dC, sizeof(float) * result, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
