// A grid-stride loop over the outputs; sizes are parameters.
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

__global__ void depthwise_stride(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int size, int kernel,
                                 int channels) {
  const int out = size - kernel + 1;
  const int total = out * out * channels;
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
    const int c = i % channels;
    const int x = i / channels % out;
    const int y = i / channels / out;
    float sum = 0.0f;
    for (int k = 0; k < kernel * kernel; ++k) {
      sum = fmaf(A[((y + k / kernel) * size + x + k % kernel) * channels + c], B[k * channels + c], sum);
    }
    C[i] = sum;
  }
}

extern "C" void depthwiseconv(const float* A, const float* B, float* C, int size, int kernel, int channels) {
  const int out = size - kernel + 1;
  float* d_A = nullptr;
  float* d_B = nullptr;
  float* d_C = nullptr;
  HIP_CHECK(hipMalloc(&d_A, size * size * channels * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_B, kernel * kernel * channels * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_C, out * out * channels * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_A, A, size * size * channels * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_B, B, kernel * kernel * channels * sizeof(float), hipMemcpyHostToDevice));
  depthwise_stride<<<120, 256>>>(d_A, d_B, d_C, size, kernel, channels);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(C, d_C, out * out * channels * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_A));
  HIP_CHECK(hipFree(d_B));
  HIP_CHECK(hipFree(d_C));
}
