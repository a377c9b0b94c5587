// y = A * x of signed bytes, a thread for each row, four bytes a load. K is a multiple of four.
#include <cuda_runtime.h>

#ifndef M
#define M 32
#endif
#ifndef K
#define K 64
#endif

__global__ void gemv_char4(const char4* __restrict__ A, const char4* __restrict__ x, int* __restrict__ y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  int sum = 0;
  for (int k = 0; k < K / 4; ++k) {
    const char4 a = A[row * (K / 4) + k];
    const char4 b = x[k];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  y[row] = sum;
}

extern "C" void gemv(const signed char* A, const signed char* x, int* y) {
  char4 *dA, *dx;
  int* dy;
  cudaMalloc(&dA, M * K);
  cudaMalloc(&dx, K);
  cudaMalloc(&dy, M * sizeof(int));
  cudaMemcpy(dA, A, M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x, K, cudaMemcpyHostToDevice);
  gemv_char4<<<(M + 31) / 32, 32>>>(dA, dx, dy);
  cudaMemcpy(y, dy, M * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dx);
  cudaFree(dy);
}
