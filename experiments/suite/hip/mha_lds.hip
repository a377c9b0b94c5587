// A block for each position: scores of all pairs of heads in LDS, softmax by rows, then the weighted sums.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

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

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

__global__ __launch_bounds__(128) void mha_lds(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                               float* __restrict__ O) {
  __shared__ float score[HEADS][HEADS];
  const size_t base = (size_t)blockIdx.x * HEADS * DIM;
  for (int pair = threadIdx.x; pair < HEADS * HEADS; pair += blockDim.x) {
    const float* q = Q + base + pair / HEADS * DIM;
    const float* k = K + base + pair % HEADS * DIM;
    float sum = 0.0f;
    for (int d = 0; d < DIM; ++d) sum += q[d] * k[d];
    score[pair / HEADS][pair % HEADS] = sum * (1.0f / sqrtf((float)DIM));
  }
  __syncthreads();
  if (threadIdx.x < HEADS) {
    float* row = score[threadIdx.x];
    float peak = row[0];
    for (int j = 1; j < HEADS; ++j) peak = fmaxf(peak, row[j]);
    float sum = 0.0f;
    for (int j = 0; j < HEADS; ++j) {
      row[j] = expf(row[j] - peak);
      sum += row[j];
    }
    for (int j = 0; j < HEADS; ++j) row[j] /= sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < HEADS * DIM; i += blockDim.x) {
    float sum = 0.0f;
    for (int j = 0; j < HEADS; ++j) sum += score[i / DIM][j] * V[base + j * DIM + i % DIM];
    O[base + i] = sum;
  }
}

extern "C" void mha(const float* Q, const float* K, const float* V, float* O) {
  float* d_Q = nullptr;
  float* d_K = nullptr;
  float* d_V = nullptr;
  float* d_O = nullptr;
  HIP_CHECK(hipMalloc(&d_Q, BATCH * SEQ * HEADS * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_K, BATCH * SEQ * HEADS * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_V, BATCH * SEQ * HEADS * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_O, BATCH * SEQ * HEADS * DIM * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_Q, Q, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_K, K, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_V, V, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice));
  mha_lds<<<BATCH * SEQ, 128>>>(d_Q, d_K, d_V, d_O);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(O, d_O, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_Q));
  HIP_CHECK(hipFree(d_K));
  HIP_CHECK(hipFree(d_V));
  HIP_CHECK(hipFree(d_O));
}
