// Minima along the window's rows go through LDS: a thread for each tap column and channel.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef SIZE
#define SIZE 32
#endif
#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 5
#endif
#ifndef STRIDE
#define STRIDE 3
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

#define LANES 32

__global__ void minpool_lds(const float* A, float* C) {
  __shared__ float column[KERNEL][LANES];
  const int pixel = blockIdx.x;
  const int n = pixel / (OUT * OUT), oh = pixel / OUT % OUT, ow = pixel % OUT;
  const int c = blockIdx.y * LANES + threadIdx.x;
  const int kw = threadIdx.y;
  float least = INFINITY;
  if (c < CHANNELS) {
    for (int kh = 0; kh < KERNEL; ++kh) {
      least = fminf(least, A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * CHANNELS + c]);
    }
  }
  column[kw][threadIdx.x] = least;
  __syncthreads();
  if (kw == 0 && c < CHANNELS) {
    for (int k = 1; k < KERNEL; ++k) least = fminf(least, column[k][threadIdx.x]);
    C[pixel * CHANNELS + c] = least;
  }
}

extern "C" void minpool(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS);
  hipMalloc(&dC, sizeof(float) * BATCH * OUT * OUT * CHANNELS);
  hipMemcpy(dA, A, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, hipMemcpyHostToDevice);
  minpool_lds<<<dim3(BATCH * OUT * OUT, (CHANNELS + LANES - 1) / LANES), dim3(LANES, KERNEL)>>>(dA, dC);
  hipMemcpy(C, dC, sizeof(float) * BATCH * OUT * OUT * CHANNELS, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
