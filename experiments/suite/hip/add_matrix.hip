// A two-dimensional grid over rows and columns; sizes are parameters.
#include <hip/hip_runtime.h>

__global__ void add_matrix(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int rows, int cols) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < rows; y += gridDim.y * blockDim.y) {
    if (x < cols) C[y * cols + x] = A[y * cols + x] + B[y * cols + x];
  }
}

extern "C" void add(const float* A, const float* B, float* C, int rows, int cols) {
  float* dA;
  float* dB;
  float* dC;
  hipMalloc((void**)&dA, rows * cols * sizeof(float));
  hipMalloc((void**)&dB, rows * cols * sizeof(float));
  hipMalloc((void**)&dC, rows * cols * sizeof(float));
  hipMemcpy(dA, A, rows * cols * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, rows * cols * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(add_matrix, dim3((cols + 31) / 32, 16), dim3(32, 8), 0, 0, dA, dB, dC, rows, cols);
  hipMemcpy(C, dC, rows * cols * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
