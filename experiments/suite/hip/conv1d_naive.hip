// y[i] = x[i] w[0] + x[i+1] w[1] + x[i+2] w[2]
#include <hip/hip_runtime.h>

#ifndef OUT
#define OUT 126
#endif

__global__ void conv1d_kernel(const float* x, const float* w, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= OUT) return;
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 3; ++j) sum += x[i + j] * w[j];
  y[i] = sum;
}

extern "C" void conv1d(const float* x, const float* w, float* y) {
  float *dx, *dw, *dy;
  hipMalloc(&dx, (OUT + 2) * sizeof(float));
  hipMalloc(&dw, 3 * sizeof(float));
  hipMalloc(&dy, OUT * sizeof(float));
  hipMemcpy(dx, x, (OUT + 2) * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dw, w, 3 * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(conv1d_kernel, (OUT + 63) / 64, 64, 0, 0, dx, dw, dy);
  hipMemcpy(y, dy, OUT * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dx);
  hipFree(dw);
  hipFree(dy);
}
