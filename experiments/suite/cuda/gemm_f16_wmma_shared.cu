// C = A * B in half on tensor cores: a block of four warps stages 32 x 16 and 16 x 32 tiles in shared memory. Sizes: multiples of 32 (K: 16).
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
#define N 4096
#endif

#define BM 32
#define BN 32
#define BK 16

__global__ void gemm_staged(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C) {
  __shared__ half As[BM][BK];
  __shared__ half Bs[BK][BN];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int warp = threadIdx.x / 32;
  const int wr = warp / 2 * 16, wc = warp % 2 * 16;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> acc;
  nvcuda::wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int t = threadIdx.x; t < BM * BK; t += blockDim.x) As[t / BK][t % BK] = A[(row0 + t / BK) * K + k0 + t % BK];
    for (int t = threadIdx.x; t < BK * BN; t += blockDim.x) Bs[t / BN][t % BN] = B[(k0 + t / BN) * N + col0 + t % BN];
    __syncthreads();
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> b;
    nvcuda::wmma::load_matrix_sync(a, &As[wr][0], BK);
    nvcuda::wmma::load_matrix_sync(b, &Bs[0][wc], BN);
    nvcuda::wmma::mma_sync(acc, a, b, acc);
    __syncthreads();
  }
  nvcuda::wmma::store_matrix_sync(&C[(row0 + wr) * N + col0 + wc], acc, N, nvcuda::wmma::mem_row_major);
}

extern "C" void gemm(const half* A, const half* B, float* C) {
  half *dA, *dB;
  float* dC;
  cudaMalloc(&dA, sizeof(half) * M * K);
  cudaMalloc(&dB, sizeof(half) * K * N);
  cudaMalloc(&dC, sizeof(float) * M * N);
  cudaMemcpy(dA, A, sizeof(half) * M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(half) * K * N, cudaMemcpyHostToDevice);
  gemm_staged<<<dim3(N / BN, M / BM), 128>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
