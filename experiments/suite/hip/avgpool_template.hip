// A generic pooling kernel, the operation is a functor; sizes are parameters.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

struct Mean {
  __device__ float first() const { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
  __device__ float last(float v, int area) const { return v / area; }
};

template <typename T, class Op>
__global__ void pool2d(const T* in, T* out, int total, int size, int channels, int kernel, int stride, int side, Op op) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
    const int c = i % channels;
    int rest = i / channels;
    const int x0 = rest % side * stride;
    rest /= side;
    const int y0 = rest % side * stride;
    const T* image = in + rest / side * size * size * channels;
    T value = op.first();
    for (int y = y0; y < y0 + kernel; ++y) {
      for (int x = x0; x < x0 + kernel; ++x) value = op(value, image[(y * size + x) * channels + c]);
    }
    out[i] = op.last(value, kernel * kernel);
  }
}

extern "C" void avgpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
  float* d_A = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, batch * size * size * channels * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, batch * out * out * channels * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, batch * size * size * channels * sizeof(float), hipMemcpyHostToDevice));
  pool2d<float, Mean><<<96, 256>>>(d_A, d_C, batch * out * out * channels, size, channels, kernel, stride, out, Mean());
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, batch * out * out * channels * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_C));
}
