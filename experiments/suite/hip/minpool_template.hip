// A generic pooling kernel, the operation is a functor; sizes are parameters.
#include <hip/hip_runtime.h>

struct Smallest {
  __device__ float first() const { return INFINITY; }
  __device__ float operator()(float a, float b) const { return fminf(a, b); }
  __device__ float last(float v, int area) const { return v; }
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

extern "C" void minpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
  float* dA;
  float* dC;
  hipMalloc((void**)&dA, batch * size * size * channels * sizeof(float));
  hipMalloc((void**)&dC, batch * out * out * channels * sizeof(float));
  hipMemcpy(dA, A, batch * size * size * channels * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(pool2d<float, Smallest>), dim3(96), dim3(256), 0, 0,
                     dA, dC, batch * out * out * channels, size, channels, kernel, stride, out, Smallest());
  hipMemcpy(C, dC, batch * out * out * channels * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
