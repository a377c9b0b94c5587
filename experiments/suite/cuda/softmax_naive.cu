// Softmax over the last axis, one thread for each row.
#include <cuda_runtime.h>
#include <math.h>

#ifndef ROWS
#define ROWS 45
#endif
#ifndef COLS
#define COLS 25
#endif

__global__ void softmax_kernel(const float* input, float* output) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= ROWS) return;
  float max_val = input[row * COLS];
  for (int i = 1; i < COLS; i++) {
    if (input[row * COLS + i] > max_val) {
      max_val = input[row * COLS + i];
    }
  }
  float sum = 0.0f;
  for (int i = 0; i < COLS; i++) {
    float e = expf(input[row * COLS + i] - max_val);
    output[row * COLS + i] = e;
    sum += e;
  }
  for (int i = 0; i < COLS; i++) {
    output[row * COLS + i] /= sum;
  }
}

extern "C" void softmax(const float* A, float* C) {
  float *d_in, *d_out;
  size_t size = ROWS * COLS * sizeof(float);
  cudaMalloc(&d_in, size);
  cudaMalloc(&d_out, size);
  cudaMemcpy(d_in, A, size, cudaMemcpyHostToDevice);
  int threads = 64;
  int blocks = (ROWS + threads - 1) / threads;
  softmax_kernel<<<blocks, threads>>>(d_in, d_out);
  cudaMemcpy(C, d_out, size, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
}
