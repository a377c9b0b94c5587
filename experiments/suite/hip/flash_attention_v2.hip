// Flash attention 2, forward: a block for each tile of queries, O in registers, one division at the end.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

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

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

#define ROWS 64
#define COLS 32

__global__ __launch_bounds__(ROWS) void flash_v2(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                                 float* __restrict__ O) {
  __shared__ float keys[COLS][DIM];
  __shared__ float values[COLS][DIM];
  const int row = blockIdx.x * ROWS + threadIdx.x;
  const size_t base = (size_t)(blockIdx.z * HEADS + blockIdx.y) * SEQ * DIM;
  const float scale = rsqrtf((float)DIM);
  float q[DIM], o[DIM], score[COLS];
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    q[d] = row < SEQ ? Q[base + row * DIM + d] * scale : 0.0f;
    o[d] = 0.0f;
  }
  float peak = -INFINITY, total = 0.0f;
  for (int j0 = 0; j0 < SEQ; j0 += COLS) {
    for (int i = threadIdx.x; i < COLS * DIM; i += ROWS) {
      const bool inside = j0 + i / DIM < SEQ;
      keys[i / DIM][i % DIM] = inside ? K[base + j0 * DIM + i] : 0.0f;
      values[i / DIM][i % DIM] = inside ? V[base + j0 * DIM + i] : 0.0f;
    }
    __syncthreads();
    float larger = peak;
    for (int j = 0; j < COLS; ++j) {
      float dot = 0.0f;
#pragma unroll
      for (int d = 0; d < DIM; ++d) dot += q[d] * keys[j][d];
      score[j] = j0 + j < SEQ ? dot : -INFINITY;
      larger = fmaxf(larger, score[j]);
    }
    const float keep = expf(peak - larger);
    total *= keep;
#pragma unroll
    for (int d = 0; d < DIM; ++d) o[d] *= keep;
    for (int j = 0; j < COLS; ++j) {
      const float p = expf(score[j] - larger);
      total += p;
#pragma unroll
      for (int d = 0; d < DIM; ++d) o[d] += p * values[j][d];
    }
    peak = larger;
    __syncthreads();
  }
  if (row < SEQ) {
    for (int d = 0; d < DIM; ++d) O[base + row * DIM + d] = o[d] / total;
  }
}

extern "C" void flash_attention(const float* Q, const float* K, const float* V, float* O) {
  float* d_Q = nullptr;
  float* d_K = nullptr;
  float* d_V = nullptr;
  float* d_O = nullptr;
  HIP_CHECK(hipMalloc(&d_Q, BATCH * HEADS * SEQ * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_K, BATCH * HEADS * SEQ * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_V, BATCH * HEADS * SEQ * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_O, BATCH * HEADS * SEQ * DIM * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_Q, Q, BATCH * HEADS * SEQ * DIM * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_K, K, BATCH * HEADS * SEQ * DIM * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_V, V, BATCH * HEADS * SEQ * DIM * sizeof(float), hipMemcpyHostToDevice));
  flash_v2<<<dim3((SEQ + ROWS - 1) / ROWS, HEADS, BATCH), ROWS>>>(d_Q, d_K, d_V, d_O);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(O, d_O, BATCH * HEADS * SEQ * DIM * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_Q));
  HIP_CHECK(hipFree(d_K));
  HIP_CHECK(hipFree(d_V));
  HIP_CHECK(hipFree(d_O));
}
