// Each wavefront of a block takes a strip of 16 columns; MFMA 16x16x4 on floats.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 4
#endif
#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

typedef float vec4 __attribute__((ext_vector_type(4)));

__global__ __launch_bounds__(256) void bmm_mfma(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
  const int lane = threadIdx.x & 63;
  const int wave = threadIdx.x >> 6;
  const float* a = A + blockIdx.z * M * K;
  const float* b = B + blockIdx.z * K * N;
  float* c = C + blockIdx.z * M * N;
  const int i = blockIdx.y * 16 + (lane & 15);
  const int j = (blockIdx.x * 4 + wave) * 16 + (lane & 15);
  vec4 acc = {};
  for (int k = lane >> 4; k < (K + 3) / 4 * 4; k += 4) {
    float x = 0.0f, y = 0.0f;
    if (i < M && k < K) x = a[i * K + k];
    if (j < N && k < K) y = b[k * N + j];
    acc = __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, acc, 0, 0, 0);
  }
  const int row = blockIdx.y * 16 + 4 * (lane >> 4);
  if (j < N) {
    if (row + 0 < M) c[(row + 0) * N + j] = acc.x;
    if (row + 1 < M) c[(row + 1) * N + j] = acc.y;
    if (row + 2 < M) c[(row + 2) * N + j] = acc.z;
    if (row + 3 < M) c[(row + 3) * N + j] = acc.w;
  }
}

extern "C" void bmm(const float* A, const float* B, float* C) {
  float *a, *b, *c;
  hipMalloc(&a, sizeof(float) * BATCH * M * K);
  hipMalloc(&b, sizeof(float) * BATCH * K * N);
  hipMalloc(&c, sizeof(float) * BATCH * M * N);
  hipMemcpy(a, A, sizeof(float) * BATCH * M * K, hipMemcpyHostToDevice);
  hipMemcpy(b, B, sizeof(float) * BATCH * K * N, hipMemcpyHostToDevice);
  bmm_mfma<<<dim3((N + 63) / 64, (M + 15) / 16, BATCH), dim3(256)>>>(a, b, c);
  hipDeviceSynchronize();
  hipMemcpy(C, c, sizeof(float) * BATCH * M * N, hipMemcpyDeviceToHost);
  hipFree(a);
  hipFree(b);
  hipFree(c);
}
