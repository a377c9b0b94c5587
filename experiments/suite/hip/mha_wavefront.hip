// A wavefront for each position and head: dot products by shuffles, no maximum subtracted; sizes are parameters.
#include <hip/hip_runtime.h>

#define MAX_HEADS 32

__device__ inline float wave_sum(float v) {
  for (int mask = 32; mask > 0; mask >>= 1) v += __shfl_xor(v, mask);
  return v;
}

__global__ void mha_wave(const float* Q, const float* K, const float* V, float* O, int batch, int seq, int heads, int dim) {
  const int unit = blockIdx.x * blockDim.y + threadIdx.y;
  if (unit >= batch * seq * heads) return;
  const int lane = threadIdx.x;
  const float* q = Q + (size_t)unit * dim;
  const size_t position = (size_t)(unit / heads) * heads * dim;
  float weight[MAX_HEADS];
  float total = 0.0f;
  for (int j = 0; j < heads; ++j) {
    float sum = 0.0f;
    for (int d = lane; d < dim; d += 64) sum += q[d] * K[position + j * dim + d];
    weight[j] = expf(wave_sum(sum) / sqrtf(dim));
    total += weight[j];
  }
  for (int d = lane; d < dim; d += 64) {
    float sum = 0.0f;
    for (int j = 0; j < heads; ++j) sum += weight[j] / total * V[position + j * dim + d];
    O[(size_t)unit * dim + d] = sum;
  }
}

extern "C" void mha(const float* Q, const float* K, const float* V, float* O, int batch, int seq, int heads, int dim) {
  float* dQ;
  float* dK;
  float* dV;
  float* dO;
  hipMalloc(&dQ, sizeof(float) * batch * seq * heads * dim);
  hipMalloc(&dK, sizeof(float) * batch * seq * heads * dim);
  hipMalloc(&dV, sizeof(float) * batch * seq * heads * dim);
  hipMalloc(&dO, sizeof(float) * batch * seq * heads * dim);
  hipMemcpy(dQ, Q, sizeof(float) * batch * seq * heads * dim, hipMemcpyHostToDevice);
  hipMemcpy(dK, K, sizeof(float) * batch * seq * heads * dim, hipMemcpyHostToDevice);
  hipMemcpy(dV, V, sizeof(float) * batch * seq * heads * dim, hipMemcpyHostToDevice);
  mha_wave<<<(batch * seq * heads + 3) / 4, dim3(64, 4)>>>(dQ, dK, dV, dO, batch, seq, heads, dim);
  hipMemcpy(O, dO, sizeof(float) * batch * seq * heads * dim, hipMemcpyDeviceToHost);
  hipFree(dQ);
  hipFree(dK);
  hipFree(dV);
  hipFree(dO);
}
