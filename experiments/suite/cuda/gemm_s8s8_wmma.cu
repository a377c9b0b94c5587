// C = A * B of signed bytes on tensor cores: a warp for each 16 x 16 tile of C. All sizes are multiples of 16.
#include <cuda_runtime.h>
#include <mma.h>

#ifndef M
#define M 32
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

using namespace nvcuda;

__global__ void gemm_imma(const signed char* A, const signed char* B, int* C) {
  const int tile_row = blockIdx.y * 16;
  const int tile_col = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
  wmma::fill_fragment(c, 0);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + tile_row * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + tile_col, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + tile_row * N + tile_col, c, N, wmma::mem_row_major);
}

extern "C" void gemm(const signed char* A, const signed char* B, int* C) {
  signed char *dA, *dB;
  int* dC;
  cudaMalloc(&dA, M * K);
  cudaMalloc(&dB, K * N);
  cudaMalloc(&dC, sizeof(int) * M * N);
  cudaMemcpy(dA, A, M * K, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, K * N, cudaMemcpyHostToDevice);
  gemm_imma<<<dim3(N / 16, M / 16), 32>>>(dA, dB, dC);
  cudaMemcpy(C, dC, sizeof(int) * M * N, cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
