// One thread for each value of the output row; the softmax is kept up to date while the heads go by.
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

__global__ void mha_online(const float* Q, const float* K, const float* V, float* O) {
  const int position = blockIdx.x;
  const int i = blockIdx.y;
  const float scale = rsqrtf((float)DIM);
  for (int d = threadIdx.x; d < DIM; d += blockDim.x) {
    float peak = -INFINITY, sum = 0.0f, value = 0.0f;
    for (int j = 0; j < HEADS; ++j) {
      float dot = 0.0f;
      for (int e = 0; e < DIM; ++e) dot += Q[(position * HEADS + i) * DIM + e] * K[(position * HEADS + j) * DIM + e];
      const float score = dot * scale;
      const float larger = fmaxf(peak, score);
      const float old = expf(peak - larger), now = expf(score - larger);
      sum = sum * old + now;
      value = value * old + now * V[(position * HEADS + j) * DIM + d];
      peak = larger;
    }
    O[(position * HEADS + i) * DIM + d] = value / sum;
  }
}

extern "C" void mha(const float* Q, const float* K, const float* V, float* O) {
  float* dQ;
  float* dK;
  float* dV;
  float* dO;
  hipMalloc((void**)&dQ, BATCH * SEQ * HEADS * DIM * sizeof(float));
  hipMalloc((void**)&dK, BATCH * SEQ * HEADS * DIM * sizeof(float));
  hipMalloc((void**)&dV, BATCH * SEQ * HEADS * DIM * sizeof(float));
  hipMalloc((void**)&dO, BATCH * SEQ * HEADS * DIM * sizeof(float));
  hipMemcpy(dQ, Q, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dK, K, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dV, V, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(mha_online, dim3(BATCH * SEQ, HEADS), dim3(64), 0, 0, dQ, dK, dV, dO);
  hipMemcpy(O, dO, BATCH * SEQ * HEADS * DIM * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dQ);
  hipFree(dK);
  hipFree(dV);
  hipFree(dO);
}
