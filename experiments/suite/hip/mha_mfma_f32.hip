// Both products of a position with MFMA 16x16x4 on floats; heads are padded to 16.
#include <hip/hip_runtime.h>

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

static_assert(HEADS <= 16, "one tile of scores holds 16 heads");

typedef float vec4 __attribute__((ext_vector_type(4)));

__global__ void mha_matrix(const float* Q, const float* K, const float* V, float* O) {
  __shared__ float score[16][17];
  const int lane = threadIdx.x;
  const int column = lane % 16, group = lane / 16;
  const size_t base = (size_t)blockIdx.x * HEADS * DIM;
  vec4 s = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int d0 = 0; d0 < DIM; d0 += 4) {
    const int d = d0 + group;
    const bool inside = column < HEADS && d < DIM;
    const float q = inside ? Q[base + column * DIM + d] : 0.0f;
    const float k = inside ? K[base + column * DIM + d] : 0.0f;
    s = __builtin_amdgcn_mfma_f32_16x16x4f32(q, k, s, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i) score[group * 4 + i][column] = s[i] / sqrtf((float)DIM);
  __syncthreads();
  if (lane < 16) {
    float peak = -INFINITY, sum = 0.0f;
    for (int j = 0; j < HEADS; ++j) peak = fmaxf(peak, score[lane][j]);
    for (int j = 0; j < 16; ++j) {
      score[lane][j] = j < HEADS ? expf(score[lane][j] - peak) : 0.0f;
      sum += score[lane][j];
    }
    for (int j = 0; j < 16; ++j) score[lane][j] /= sum;
  }
  __syncthreads();
  for (int d0 = 0; d0 < DIM; d0 += 16) {
    const int d = d0 + column;
    vec4 o = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j0 = 0; j0 < 16; j0 += 4) {
      const int j = j0 + group;
      const float v = j < HEADS && d < DIM ? V[base + j * DIM + d] : 0.0f;
      o = __builtin_amdgcn_mfma_f32_16x16x4f32(score[column][j], v, o, 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i) {
      const int head = group * 4 + i;
      if (head < HEADS && d < DIM) O[base + head * DIM + d] = o[i];
    }
  }
}

extern "C" void mha(const float* Q, const float* K, const float* V, float* O) {
  float* dQ;
  float* dK;
  float* dV;
  float* dO;
  hipMalloc(&dQ, sizeof(float) * BATCH * SEQ * HEADS * DIM);
  hipMalloc(&dK, sizeof(float) * BATCH * SEQ * HEADS * DIM);
  hipMalloc(&dV, sizeof(float) * BATCH * SEQ * HEADS * DIM);
  hipMalloc(&dO, sizeof(float) * BATCH * SEQ * HEADS * DIM);
  hipMemcpy(dQ, Q, sizeof(float) * BATCH * SEQ * HEADS * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dK, K, sizeof(float) * BATCH * SEQ * HEADS * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dV, V, sizeof(float) * BATCH * SEQ * HEADS * DIM, hipMemcpyHostToDevice);
  mha_matrix<<<BATCH * SEQ, 64>>>(dQ, dK, dV, dO);
  hipMemcpy(O, dO, sizeof(float) * BATCH * SEQ * HEADS * DIM, hipMemcpyDeviceToHost);
  hipFree(dQ);
  hipFree(dK);
  hipFree(dV);
  hipFree(dO);
}
