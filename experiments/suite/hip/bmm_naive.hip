// A batch of products, the batch in the grid's third dimension.
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

__global__ void bmm_kernel(const float* A, const float* B, float* C) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int batch = blockIdx.z;
  if (row < M && col < N) {
    const float* a = A + (batch * M + row) * K;
    const float* b = B + batch * K * N + col;
    float sum = 0;
    for (int k = 0; k < K; k++, b += N) sum = fmaf(a[k], *b, sum);
    C[(batch * M + row) * N + col] = sum;
  }
}

extern "C" void bmm(const float* A, const float* B, float* C) {
  float *a, *b, *c;
  hipMalloc(&a, sizeof(float) * BATCH * M * K);
  hipMalloc(&b, sizeof(float) * BATCH * K * N);
  hipMalloc(&c, sizeof(float) * BATCH * M * N);
  hipMemcpy(a, A, sizeof(float) * BATCH * M * K, hipMemcpyHostToDevice);
  hipMemcpy(b, B, sizeof(float) * BATCH * K * N, hipMemcpyHostToDevice);
  dim3 threads(32, 8, 1);
  dim3 blocks((N + 31) / 32, (M + 7) / 8, BATCH);
  bmm_kernel<<<blocks, threads, 0, 0>>>(a, b, c);
  hipMemcpy(C, c, sizeof(float) * BATCH * M * N, hipMemcpyDeviceToHost);
  hipFree(a);
  hipFree(b);
  hipFree(c);
}
