// A generic pooling kernel, the operation is a functor; sizes are parameters.
#include <hip/hip_runtime.h>

struct Total {
  __device__ float first() const { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
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

extern "C" void sumpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * batch * size * size * channels);
  hipMalloc(&dC, sizeof(float) * batch * out * out * channels);
  hipMemcpy(dA, A, sizeof(float) * batch * size * size * channels, hipMemcpyHostToDevice);
  pool2d<float, Total><<<96, 256>>>(dA, dC, batch * out * out * channels, size, channels, kernel, stride, out, Total());
  hipMemcpy(C, dC, sizeof(float) * batch * out * out * channels, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
