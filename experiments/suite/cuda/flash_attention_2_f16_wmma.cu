// Flash attention 2 in half on tensor cores: a warp for each 16 queries, keys and values in tiles of 16. Sequence and depth: multiples of 16.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#ifndef BATCH
#define BATCH 8
#endif
#ifndef HEADS
#define HEADS 16
#endif
#ifndef SEQ
#define SEQ 1024
#endif
#ifndef DIM
#define DIM 32
#endif

using namespace nvcuda;

#define TILE 16

__global__ void flash_wmma(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V, float* __restrict__ O) {
  __shared__ float scores[TILE][TILE];
  __shared__ half weights[TILE][TILE];
  __shared__ float product[TILE][DIM];
  __shared__ float acc[TILE][DIM];
  __shared__ float keep[TILE];
  const int lane = threadIdx.x;
  const size_t head = (size_t)blockIdx.y * SEQ * DIM;
  const int row0 = blockIdx.x * TILE;
  const float scale = 1.0f / sqrtf((float)DIM);
  for (int t = lane; t < TILE * DIM; t += 32) acc[t / DIM][t % DIM] = 0.0f;
  float m = -INFINITY;
  float l = 0.0f;
  for (int j = 0; j < SEQ; j += TILE) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> q;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
    wmma::fill_fragment(s, 0.0f);
    for (int d = 0; d < DIM; d += 16) {
      wmma::load_matrix_sync(q, Q + head + row0 * DIM + d, DIM);
      wmma::load_matrix_sync(k, K + head + j * DIM + d, DIM);
      wmma::mma_sync(s, q, k, s);
    }
    wmma::store_matrix_sync(&scores[0][0], s, TILE, wmma::mem_row_major);
    __syncthreads();
    if (lane < TILE) {
      float peak = m;
      for (int c = 0; c < TILE; ++c) peak = fmaxf(peak, scores[lane][c] * scale);
      const float old = expf(m - peak);
      float sum = 0.0f;
      for (int c = 0; c < TILE; ++c) {
        const float p = expf(scores[lane][c] * scale - peak);
        weights[lane][c] = __float2half(p);
        sum += p;
      }
      l = l * old + sum;
      m = peak;
      keep[lane] = old;
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> v;
    wmma::load_matrix_sync(p, &weights[0][0], TILE);
    for (int d = 0; d < DIM; d += 16) {
      wmma::fill_fragment(s, 0.0f);
      wmma::load_matrix_sync(v, V + head + j * DIM + d, DIM);
      wmma::mma_sync(s, p, v, s);
      wmma::store_matrix_sync(&product[0][d], s, DIM, wmma::mem_row_major);
    }
    __syncthreads();
    for (int t = lane; t < TILE * DIM; t += 32) acc[t / DIM][t % DIM] = acc[t / DIM][t % DIM] * keep[t / DIM] + product[t / DIM][t % DIM];
    __syncthreads();
  }
  if (lane < TILE) keep[lane] = 1.0f / l;
  __syncthreads();
  for (int t = lane; t < TILE * DIM; t += 32) O[head + row0 * DIM + t] = acc[t / DIM][t % DIM] * keep[t / DIM];
}

extern "C" void flash_attention(const half* Q, const half* K, const half* V, float* O) {
  const size_t count = (size_t)BATCH * HEADS * SEQ * DIM;
  half *q, *k, *v;
  float* o;
  cudaMalloc(&q, count * sizeof(half));
  cudaMalloc(&k, count * sizeof(half));
  cudaMalloc(&v, count * sizeof(half));
  cudaMalloc(&o, count * sizeof(float));
  cudaMemcpy(q, Q, count * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(k, K, count * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(v, V, count * sizeof(half), cudaMemcpyHostToDevice);
  flash_wmma<<<dim3(SEQ / TILE, BATCH * HEADS), 32>>>(q, k, v, o);
  cudaMemcpy(O, o, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
