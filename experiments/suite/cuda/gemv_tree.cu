// y = A * x for sizes known at the call: a block for each row, a tree in shared memory adds the partial sums.
#include <cuda_runtime.h>

template <int BLOCK>
__global__ void gemv_block(const float* A, const float* x, float* y, int k) {
  __shared__ float partial[BLOCK];
  const int tid = threadIdx.x;
  float sum = 0.0f;
  for (int i = tid; i < k; i += BLOCK) {
    sum = fmaf(A[blockIdx.x * k + i], x[i], sum);
  }
  partial[tid] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = partial[0];
}

extern "C" void gemv(const float* A, const float* x, float* y, int m, int k) {
  float *dA, *dx, *dy;
  const size_t bytes = (size_t)m * k * sizeof(float);
  cudaMalloc((void**)&dA, bytes);
  cudaMalloc((void**)&dx, k * sizeof(float));
  cudaMalloc((void**)&dy, m * sizeof(float));
  cudaMemcpy(dA, A, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x, k * sizeof(float), cudaMemcpyHostToDevice);
  gemv_block<64><<<m, 64>>>(dA, dx, dy, k);
  cudaMemcpy(y, dy, m * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dx);
  cudaFree(dy);
}
