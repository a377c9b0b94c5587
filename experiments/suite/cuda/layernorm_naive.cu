// y = gamma * (x - mean) / (std + 1e-5) + beta over the last axis; a thread for each row.
#include <cuda_runtime.h>
#include <math.h>

#ifndef BATCH
#define BATCH 2
#endif
#ifndef SEQ
#define SEQ 8
#endif
#ifndef DIM
#define DIM 128
#endif

__global__ void layernorm_kernel(const float* input, const float* gamma, const float* beta, float* output) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < BATCH * SEQ) {
    float mean = 0.0;
    for (int i = 0; i < DIM; i++) {
      mean += input[idx * DIM + i];
    }
    mean /= DIM;
    float variance = 0.0;
    for (int i = 0; i < DIM; i++) {
      float diff = input[idx * DIM + i] - mean;
      variance += diff * diff;
    }
    variance = sqrt(variance / DIM);
    for (int i = 0; i < DIM; i++) {
      float diff = input[idx * DIM + i] - mean;
      output[idx * DIM + i] = diff / (variance + 1e-5f) * gamma[i] + beta[i];
    }
  }
}

extern "C" void layernorm(const float* A, const float* gamma, const float* beta, float* C) {
  float *d_in, *d_gamma, *d_beta, *d_out;
  int num_elements = BATCH * SEQ * DIM;
  cudaMalloc(&d_in, num_elements * sizeof(float));
  cudaMalloc(&d_gamma, DIM * sizeof(float));
  cudaMalloc(&d_beta, DIM * sizeof(float));
  cudaMalloc(&d_out, num_elements * sizeof(float));
  cudaMemcpy(d_in, A, num_elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, gamma, DIM * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, beta, DIM * sizeof(float), cudaMemcpyHostToDevice);
  int block_size = 16;
  int num_blocks = (BATCH * SEQ + block_size - 1) / block_size;
  layernorm_kernel<<<num_blocks, block_size>>>(d_in, d_gamma, d_beta, d_out);
  cudaMemcpy(C, d_out, num_elements * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_out);
}
