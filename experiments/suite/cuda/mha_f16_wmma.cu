// Attention over up to 16 heads in half on tensor cores: a warp for each position, heads padded to 16. The depth is a multiple of 16.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SEQ
#define SEQ 2048
#endif
#ifndef HEADS
#define HEADS 12
#endif
#ifndef DIM
#define DIM 256
#endif

using namespace nvcuda;

__global__ void mha_wmma(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V, float* __restrict__ O) {
  __shared__ half q[16 * DIM];
  __shared__ half k[16 * DIM];
  __shared__ half v[16 * DIM];
  __shared__ float scores[16 * 16];
  __shared__ half probabilities[16 * 16];
  __shared__ float out[16 * 16];
  const int lane = threadIdx.x;
  const int base = blockIdx.x * HEADS * DIM;
  for (int t = lane; t < 16 * DIM; t += 32) {
    const bool live = t < HEADS * DIM;
    q[t] = live ? Q[base + t] : __float2half(0.0f);
    k[t] = live ? K[base + t] : __float2half(0.0f);
    v[t] = live ? V[base + t] : __float2half(0.0f);
  }
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> bt;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
  wmma::fill_fragment(s, 0.0f);
  for (int d = 0; d < DIM; d += 16) {
    wmma::load_matrix_sync(a, q + d, DIM);
    wmma::load_matrix_sync(bt, k + d, DIM);
    wmma::mma_sync(s, a, bt, s);
  }
  const float scale = 1.0f / sqrtf((float)DIM);
  for (int e = 0; e < s.num_elements; ++e) s.x[e] *= scale;
  wmma::store_matrix_sync(scores, s, 16, wmma::mem_row_major);
  __syncthreads();
  if (lane < 16) {
    float peak = scores[lane * 16];
    for (int j = 1; j < HEADS; ++j) peak = fmaxf(peak, scores[lane * 16 + j]);
    float total = 0.0f;
    for (int j = 0; j < HEADS; ++j) total += expf(scores[lane * 16 + j] - peak);
    for (int j = 0; j < 16; ++j) {
      probabilities[lane * 16 + j] = __float2half(j < HEADS ? expf(scores[lane * 16 + j] - peak) / total : 0.0f);
    }
  }
  __syncthreads();
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::load_matrix_sync(a, probabilities, 16);
  for (int d = 0; d < DIM; d += 16) {
    wmma::fill_fragment(s, 0.0f);
    wmma::load_matrix_sync(b, v + d, DIM);
    wmma::mma_sync(s, a, b, s);
    wmma::store_matrix_sync(out, s, 16, wmma::mem_row_major);
    __syncthreads();
    for (int t = lane; t < HEADS * 16; t += 32) O[base + t / 16 * DIM + d + t % 16] = out[t];
    __syncthreads();
  }
}

extern "C" void mha(const half* Q, const half* K, const half* V, float* O) {
  const size_t bytes = sizeof(half) * BATCH * SEQ * HEADS * DIM;
  half *q, *k, *v;
  float* o;
  cudaMalloc(&q, bytes);
  cudaMalloc(&k, bytes);
  cudaMalloc(&v, bytes);
  cudaMalloc(&o, 2 * bytes);
  cudaMemcpy(q, Q, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(k, K, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(v, V, bytes, cudaMemcpyHostToDevice);
  mha_wmma<<<BATCH * SEQ, 32>>>(q, k, v, o);
  cudaMemcpy(O, o, 2 * bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
