// GELU, tanh form written with the exponential, applied by a generic elementwise kernel.
#include <cuda_runtime.h>

#ifndef N
#define N 4608
#endif

template <typename T>
struct Gelu {
  __host__ __device__ T operator()(T x) const {
    const T inner = T(0.7978845608) * (x + T(0.044715) * x * x * x);
    const T t = T(1) - T(2) / (T(1) + expf(T(2) * inner));
    return T(0.5) * x * (T(1) + t);
  }
};

template <typename T, typename F>
__global__ void map(const T* in, T* out, size_t count, F f) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = f(in[i]);
}

template <typename T, typename F>
void launch_map(const T* in, T* out, size_t count, F f) {
  const int threads = 192;
  const int blocks = (count + threads - 1) / threads;
  map<T, F><<<blocks, threads>>>(in, out, count, f);
}

extern "C" void gelu(const float* A, float* C) {
  float *in = 0, *out = 0;
  cudaMalloc((void**)&in, N * sizeof(float));
  cudaMalloc((void**)&out, N * sizeof(float));
  cudaMemcpy(in, A, N * sizeof(float), cudaMemcpyHostToDevice);
  launch_map(in, out, N, Gelu<float>());
  cudaMemcpy(C, out, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
