// Flash attention 2, forward, half inputs: a wavefront for 16 queries, both products with MFMA 16x16x16.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

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

static_assert(DIM % 16 == 0 && SEQ % 16 == 0, "whole tiles");

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));

__global__ __launch_bounds__(64) void flash_matrix(const _Float16* __restrict__ Q, const _Float16* __restrict__ K,
                                                   const _Float16* __restrict__ V, float* __restrict__ O) {
  __shared__ float s[16][17];
  __shared__ float keep[16];
  __shared__ float total[16];
  const int lane = threadIdx.x;
  const int column = lane % 16, group = lane / 16;
  const size_t base = (size_t)(blockIdx.z * HEADS + blockIdx.y) * SEQ * DIM;
  const int row0 = blockIdx.x * 16;
  float4v o[DIM / 16];
  for (int b = 0; b < DIM / 16; ++b) {
    for (int i = 0; i < 4; ++i) o[b][i] = 0.0f;
  }
  float peak = -INFINITY, sum = 0.0f;
  for (int j0 = 0; j0 < SEQ; j0 += 16) {
    float4v acc = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int d0 = 0; d0 < DIM; d0 += 16) {
      half4 q, k;
      for (int i = 0; i < 4; ++i) {
        q[i] = Q[base + (row0 + column) * DIM + d0 + group * 4 + i];
        k[i] = K[base + (j0 + column) * DIM + d0 + group * 4 + i];
      }
      acc = __builtin_amdgcn_mfma_f32_16x16x16f16(q, k, acc, 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i) s[group * 4 + i][column] = acc[i] / sqrtf((float)DIM);
    __syncthreads();
    if (lane < 16) {
      float larger = peak;
      for (int j = 0; j < 16; ++j) larger = fmaxf(larger, s[lane][j]);
      keep[lane] = expf(peak - larger);
      sum *= keep[lane];
      for (int j = 0; j < 16; ++j) {
        s[lane][j] = expf(s[lane][j] - larger);
        sum += s[lane][j];
      }
      total[lane] = sum;
      peak = larger;
    }
    __syncthreads();
    half4 p;
    for (int i = 0; i < 4; ++i) p[i] = (_Float16)s[column][group * 4 + i];
    for (int b = 0; b < DIM / 16; ++b) {
      half4 v;
      for (int i = 0; i < 4; ++i) v[i] = V[base + (j0 + group * 4 + i) * DIM + b * 16 + column];
      for (int i = 0; i < 4; ++i) o[b][i] *= keep[group * 4 + i];
      o[b] = __builtin_amdgcn_mfma_f32_16x16x16f16(p, v, o[b], 0, 0, 0);
    }
    __syncthreads();
  }
  for (int b = 0; b < DIM / 16; ++b) {
    for (int i = 0; i < 4; ++i) O[base + (row0 + group * 4 + i) * DIM + b * 16 + column] = o[b][i] / total[group * 4 + i];
  }
}

extern "C" void flash_attention(const _Float16* Q, const _Float16* K, const _Float16* V, float* O) {
  _Float16* dQ;
  _Float16* dK;
  _Float16* dV;
  float* dO;
  hipMalloc((void**)&dQ, BATCH * HEADS * SEQ * DIM * sizeof(_Float16));
  hipMalloc((void**)&dK, BATCH * HEADS * SEQ * DIM * sizeof(_Float16));
  hipMalloc((void**)&dV, BATCH * HEADS * SEQ * DIM * sizeof(_Float16));
  hipMalloc((void**)&dO, BATCH * HEADS * SEQ * DIM * sizeof(float));
  hipMemcpy(dQ, Q, BATCH * HEADS * SEQ * DIM * sizeof(_Float16), hipMemcpyHostToDevice);
  hipMemcpy(dK, K, BATCH * HEADS * SEQ * DIM * sizeof(_Float16), hipMemcpyHostToDevice);
  hipMemcpy(dV, V, BATCH * HEADS * SEQ * DIM * sizeof(_Float16), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(flash_matrix, dim3(SEQ / 16, HEADS, BATCH), dim3(64), 0, 0, dQ, dK, dV, dO);
  hipMemcpy(O, dO, BATCH * HEADS * SEQ * DIM * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dQ);
  hipFree(dK);
  hipFree(dV);
  hipFree(dO);
}
