// A block for each row, a tree of sums in LDS; sizes are parameters.
#include <hip/hip_runtime.h>

#define BLOCK 128

__global__ void gemv_block(const float* A, const float* x, float* y, int k) {
  __shared__ float partial[BLOCK];
  const float* row = A + (size_t)blockIdx.x * k;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k; i += BLOCK) sum += row[i] * x[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

extern "C" void gemv(const float* A, const float* x, float* y, int m, int k) {
  float *dA, *dx, *dy;
  hipMalloc(&dA, sizeof(float) * m * k);
  hipMalloc(&dx, sizeof(float) * k);
  hipMalloc(&dy, sizeof(float) * m);
  hipMemcpy(dA, A, sizeof(float) * m * k, hipMemcpyHostToDevice);
  hipMemcpy(dx, x, sizeof(float) * k, hipMemcpyHostToDevice);
  hipLaunchKernelGGL(gemv_block, dim3(m), dim3(BLOCK), 0, 0, dA, dx, dy, k);
  hipMemcpy(y, dy, sizeof(float) * m, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dx);
  hipFree(dy);
}
