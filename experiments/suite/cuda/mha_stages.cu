// Attention over the heads in three launches, of sizes known at the call: scores, softmax of every row, weighted sum.
#include <cuda_runtime.h>
#include <math.h>

__global__ void scores_kernel(const float* Q, const float* K, float* S, int heads, int dim, float scale) {
  const int position = blockIdx.x;
  for (int t = threadIdx.x; t < heads * heads; t += blockDim.x) {
    const float* q = Q + (position * heads + t / heads) * dim;
    const float* k = K + (position * heads + t % heads) * dim;
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) dot += q[d] * k[d];
    S[position * heads * heads + t] = dot * scale;
  }
}

__global__ void softmax_kernel(float* S, int rows, int heads) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float* s = S + row * heads;
  float peak = s[0];
  for (int j = 1; j < heads; ++j) peak = fmaxf(peak, s[j]);
  float total = 0.0f;
  for (int j = 0; j < heads; ++j) {
    s[j] = expf(s[j] - peak);
    total += s[j];
  }
  for (int j = 0; j < heads; ++j) s[j] /= total;
}

__global__ void values_kernel(const float* S, const float* V, float* O, int heads, int dim) {
  const int position = blockIdx.x, i = blockIdx.y;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float acc = 0.0f;
    for (int j = 0; j < heads; ++j) acc += S[(position * heads + i) * heads + j] * V[(position * heads + j) * dim + d];
    O[(position * heads + i) * dim + d] = acc;
  }
}

extern "C" void mha(const float* Q, const float* K, const float* V, float* O, int batch, int seq, int heads, int dim) {
  const int positions = batch * seq;
  const size_t bytes = sizeof(float) * positions * heads * dim;
  float *q, *k, *v, *o, *s;
  cudaMalloc(&q, bytes);
  cudaMalloc(&k, bytes);
  cudaMalloc(&v, bytes);
  cudaMalloc(&o, bytes);
  cudaMalloc(&s, sizeof(float) * positions * heads * heads);
  cudaMemcpy(q, Q, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(k, K, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(v, V, bytes, cudaMemcpyHostToDevice);
  scores_kernel<<<positions, 64>>>(q, k, s, heads, dim, 1.0f / sqrtf((float)dim));
  softmax_kernel<<<(positions * heads + 127) / 128, 128>>>(s, positions * heads, heads);
  values_kernel<<<dim3(positions, heads), 64>>>(s, v, o, heads, dim);
  cudaMemcpy(O, o, bytes, cudaMemcpyDeviceToHost);
  cudaFree(q);
  cudaFree(k);
  cudaFree(v);
  cudaFree(o);
  cudaFree(s);
}
