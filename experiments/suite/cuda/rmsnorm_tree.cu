// Root-mean-square normalisation of sizes known at the call: a block for each row, a tree in dynamic shared memory.
#include <cuda_runtime.h>

extern __shared__ float scratch[];

__global__ void rmsnorm_tree(const float* x, float* y, int cols) {
  const float* src = x + blockIdx.x * cols;
  float* dst = y + blockIdx.x * cols;
  float local = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) local += src[i] * src[i];
  scratch[threadIdx.x] = local;
  __syncthreads();
  for (unsigned int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  const float rms = sqrtf(scratch[0] / (float)cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) dst[i] = src[i] / rms;
}

extern "C" void rmsnorm(const float* A, float* C, int rows, int cols) {
  float *x, *y;
  const size_t bytes = (size_t)rows * cols * sizeof(float);
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMemcpy(x, A, bytes, cudaMemcpyHostToDevice);
  const int threads = 128;
  rmsnorm_tree<<<rows, threads, threads * sizeof(float)>>>(x, y, cols);
  cudaMemcpy(C, y, bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
