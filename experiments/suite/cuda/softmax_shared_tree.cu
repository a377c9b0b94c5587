// Softmax over the last axis: a block for each row, tree reductions in dynamic shared memory.
#include <cuda_runtime.h>
#include <math.h>

#ifndef ROWS
#define ROWS 45
#endif
#ifndef COLS
#define COLS 25
#endif

__global__ void softmax_block(const float* data, float* result, int cols) {
  extern __shared__ float cache[];
  const int tid = threadIdx.x;
  const int base = blockIdx.x * cols;

  float thread_max = -1e30f;
  for (int c = tid; c < cols; c += blockDim.x) thread_max = max(thread_max, data[base + c]);
  cache[tid] = thread_max;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) cache[tid] = max(cache[tid], cache[tid + s]);
    __syncthreads();
  }
  const float row_max = cache[0];
  __syncthreads();

  float thread_sum = 0.0f;
  for (int c = tid; c < cols; c += blockDim.x) {
    const float e = __expf(data[base + c] - row_max);
    result[base + c] = e;
    thread_sum += e;
  }
  cache[tid] = thread_sum;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) cache[tid] += cache[tid + s];
    __syncthreads();
  }
  const float row_sum = cache[0];

  for (int c = tid; c < cols; c += blockDim.x) result[base + c] = result[base + c] / row_sum;
}

extern "C" void softmax(const float* A, float* C) {
  float *d_data, *d_result;
  size_t bytes = sizeof(float) * ROWS * COLS;
  cudaMalloc(&d_data, bytes);
  cudaMalloc(&d_result, bytes);
  cudaMemcpy(d_data, A, bytes, cudaMemcpyHostToDevice);
  int threads = 64;
  softmax_block<<<ROWS, threads, threads * sizeof(float)>>>(d_data, d_result, COLS);
  cudaDeviceSynchronize();
  cudaMemcpy(C, d_result, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_data);
  cudaFree(d_result);
}
