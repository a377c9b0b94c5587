// A functor applied by a generic kernel, four values for each thread; the size is a parameter.
#include <hip/hip_runtime.h>

struct Sign {
  __device__ float operator()(float x) const { return (x > 0.0f) - (x < 0.0f); }
};

template <int ITEMS, class F>
__global__ __launch_bounds__(256) void transform(const float* in, float* out, int n, F f) {
  const int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int i = first + item * blockDim.x;
    if (i < n) out[i] = f(in[i]);
  }
}

extern "C" void sign(const float* A, float* C, int n) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * n);
  hipMalloc(&dC, sizeof(float) * n);
  hipMemcpy(dA, A, sizeof(float) * n, hipMemcpyHostToDevice);
  transform<4><<<(n + 1023) / 1024, 256>>>(dA, dC, n, Sign());
  hipMemcpy(C, dC, sizeof(float) * n, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
