// Flash attention 1, forward: the outer loop over tiles of keys and values; output, row sums and row maxima are updated in memory.
#include <cuda_runtime.h>
#include <math.h>

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

#define BR 32
#define BC 32

__global__ void flash_init(float* O, float* l, float* m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < BATCH * HEADS * SEQ * DIM) O[i] = 0.0f;
  if (i < BATCH * HEADS * SEQ) {
    l[i] = 0.0f;
    m[i] = -INFINITY;
  }
}

__global__ void flash_forward_1(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* l, float* m,
                                float* O) {
  __shared__ float Qi[BR][DIM];
  __shared__ float Kj[BC][DIM];
  __shared__ float Vj[BC][DIM];
  __shared__ float S[BR][BC];
  const int tx = threadIdx.x;
  const int qkv = (blockIdx.x * gridDim.y + blockIdx.y) * SEQ * DIM;
  const int lm = (blockIdx.x * gridDim.y + blockIdx.y) * SEQ;
  const float scale = 1.0f / sqrtf((float)DIM);
  for (int j = 0; j < SEQ; j += BC) {
    for (int d = 0; d < DIM; ++d) {
      Kj[tx][d] = j + tx < SEQ ? K[qkv + (j + tx) * DIM + d] : 0.0f;
      Vj[tx][d] = j + tx < SEQ ? V[qkv + (j + tx) * DIM + d] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < SEQ; i += BR) {
      if (i + tx < SEQ) {
        for (int d = 0; d < DIM; ++d) Qi[tx][d] = Q[qkv + (i + tx) * DIM + d];
        const float row_m_prev = m[lm + i + tx];
        const float row_l_prev = l[lm + i + tx];
        float row_m = -INFINITY;
        for (int y = 0; y < BC; ++y) {
          float sum = 0.0f;
          for (int d = 0; d < DIM; ++d) sum += Qi[tx][d] * Kj[y][d];
          sum *= scale;
          if (j + y >= SEQ) sum = -INFINITY;
          S[tx][y] = sum;
          if (sum > row_m) row_m = sum;
        }
        float row_l = 0.0f;
        for (int y = 0; y < BC; ++y) {
          S[tx][y] = expf(S[tx][y] - row_m);
          row_l += S[tx][y];
        }
        const float row_m_new = fmaxf(row_m_prev, row_m);
        const float row_l_new = expf(row_m_prev - row_m_new) * row_l_prev + expf(row_m - row_m_new) * row_l;
        for (int d = 0; d < DIM; ++d) {
          float pv = 0.0f;
          for (int y = 0; y < BC; ++y) pv += S[tx][y] * Vj[y][d];
          const int at = qkv + (i + tx) * DIM + d;
          O[at] = (1.0f / row_l_new) * (row_l_prev * expf(row_m_prev - row_m_new) * O[at] + expf(row_m - row_m_new) * pv);
        }
        m[lm + i + tx] = row_m_new;
        l[lm + i + tx] = row_l_new;
      }
    }
    __syncthreads();
  }
}

extern "C" void flash_attention(const float* Q, const float* K, const float* V, float* O) {
  const size_t bytes = sizeof(float) * BATCH * HEADS * SEQ * DIM;
  float *q, *k, *v, *o;
  cudaMalloc(&q, bytes);
  cudaMalloc(&k, bytes);
  cudaMalloc(&v, bytes);
  cudaMalloc(&o, bytes);
  cudaMemcpy(q, Q, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(k, K, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(v, V, bytes, cudaMemcpyHostToDevice);
  float *l, *m;
  cudaMalloc(&l, sizeof(float) * BATCH * HEADS * SEQ);
  cudaMalloc(&m, sizeof(float) * BATCH * HEADS * SEQ);
  flash_init<<<(BATCH * HEADS * SEQ * DIM + 255) / 256, 256>>>(o, l, m);
  flash_forward_1<<<dim3(BATCH, HEADS), BR>>>(q, k, v, l, m, o);
  cudaFree(l);
  cudaFree(m);
  cudaMemcpy(O, o, bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
}
