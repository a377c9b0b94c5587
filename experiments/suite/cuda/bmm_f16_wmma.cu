// Batched C = A * B in half on tensor cores, B loaded column-major from a transposed tile in shared memory. Multiples of 16.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 128
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

using namespace nvcuda::wmma;

__global__ void bmm_wmma(const half* A, const half* B, float* C) {
  __shared__ half Bt[16 * 16];
  const int batch = blockIdx.z;
  const half* a_rows = A + (batch * M + blockIdx.y * 16) * K;
  const half* b_cols = B + batch * K * N + blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    for (int t = threadIdx.x; t < 256; t += 32) Bt[t % 16 * 16 + t / 16] = b_cols[(k + t / 16) * N + t % 16];
    __syncthreads();
    load_matrix_sync(a, a_rows + k, K);
    load_matrix_sync(b, Bt, 16);
    mma_sync(c, a, b, c);
    __syncthreads();
  }
  store_matrix_sync(C + (batch * M + blockIdx.y * 16) * N + blockIdx.x * 16, c, N, mem_row_major);
}

extern "C" void bmm(const half* A, const half* B, float* C) {
  half *dA, *dB;
  float* dC;
  cudaMalloc(&dA, sizeof(half) * BATCH * M * K);
  cudaMalloc(&dB, sizeof(half) * BATCH * K * N);
  cudaMalloc(&dC, sizeof(float) * BATCH * M * N);
  cudaMemcpy(dA, A, sizeof(half) * BATCH * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(half) * BATCH * K * N, cudaMemcpyHostToDevice);
  bmm_wmma<<<dim3(N / 16, M / 16, BATCH), 32>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(float) * BATCH * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
