// C = A * B in half with float sums on tensor cores: a warp for each 16 x 16 tile of C. All sizes are multiples of 16.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

using namespace nvcuda;

#define WMMA_M 16
#define WMMA_N 16
#define WMMA_K 16

__global__ void wmma_gemm(const half* a, const half* b, float* c) {
  const int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  const int warpN = blockIdx.y * blockDim.y + threadIdx.y;
  wmma::fragment<wmma::matrix_a, WMMA_M, WMMA_N, WMMA_K, half, wmma::row_major> a_frag;
  wmma::fragment<wmma::matrix_b, WMMA_M, WMMA_N, WMMA_K, half, wmma::row_major> b_frag;
  wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, WMMA_K, float> acc_frag;
  wmma::fill_fragment(acc_frag, 0.0f);
  if (warpM * WMMA_M < M && warpN * WMMA_N < N) {
    for (int i = 0; i < K; i += WMMA_K) {
      wmma::load_matrix_sync(a_frag, a + warpM * WMMA_M * K + i, K);
      wmma::load_matrix_sync(b_frag, b + i * N + warpN * WMMA_N, N);
      wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
    }
    wmma::store_matrix_sync(c + warpM * WMMA_M * N + warpN * WMMA_N, acc_frag, N, wmma::mem_row_major);
  }
}

extern "C" void gemm(const half* A, const half* B, float* C) {
  half *dA, *dB;
  float* dC;
  cudaMalloc(&dA, sizeof(half) * M * K);
  cudaMalloc(&dB, sizeof(half) * K * N);
  cudaMalloc(&dC, sizeof(float) * M * N);
  cudaMemcpy(dA, A, sizeof(half) * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(half) * K * N, cudaMemcpyHostToDevice);
  dim3 block(64, 2);
  dim3 grid((M / WMMA_M * 32 + 63) / 64, (N / WMMA_N + 1) / 2);
  wmma_gemm<<<grid, block>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
