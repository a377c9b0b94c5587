// A fixed grid strides over the array; the size is a parameter.
#include <hip/hip_runtime.h>

template <typename T>
__global__ void relu_stride(const T* in, T* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const T v = in[i];
    out[i] = v < T(0) ? T(0) : v;
  }
}

extern "C" void relu(const float* A, float* C, int n) {
  float* d_A;
  float* d_C;
  hipMalloc(&d_A, n * sizeof(float));
  hipMalloc(&d_C, n * sizeof(float));
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMemcpyAsync(d_A, A, n * sizeof(float), hipMemcpyHostToDevice, stream);
  relu_stride<float><<<32, 256, 0, stream>>>(d_A, d_C, n);
  hipMemcpyAsync(C, d_C, n * sizeof(float), hipMemcpyDeviceToHost, stream);
  hipStreamSynchronize(stream);
  hipStreamDestroy(stream);
  hipFree(d_A);
  hipFree(d_C);
}
