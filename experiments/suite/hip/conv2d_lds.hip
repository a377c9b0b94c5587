// The window of a pixel is staged in LDS and read by the threads of all output channels.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 128
#endif
#ifndef OUT_CHANNELS
#define OUT_CHANNELS 64
#endif
#ifndef KERNEL
#define KERNEL 2
#endif
#ifndef STRIDE
#define STRIDE 2
#endif
#define OUT ((SIZE - KERNEL) / STRIDE + 1)

#define DEPTH (KERNEL * KERNEL * IN_CHANNELS)

__global__ void conv2d_lds(const float* A, const float* B, float* C) {
  __shared__ float window[DEPTH];
  const int pixel = blockIdx.x;
  const int n = pixel / (OUT * OUT);
  const int oh = pixel / OUT % OUT;
  const int ow = pixel % OUT;
  for (int i = threadIdx.x; i < DEPTH; i += blockDim.x) {
    const int c = i % IN_CHANNELS;
    const int kw = i / IN_CHANNELS % KERNEL;
    const int kh = i / (IN_CHANNELS * KERNEL);
    window[i] = A[((n * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw) * IN_CHANNELS + c];
  }
  __syncthreads();
  for (int oc = threadIdx.x; oc < OUT_CHANNELS; oc += blockDim.x) {
    float sum = 0.0f;
    for (int i = 0; i < DEPTH; ++i) sum += window[i] * B[oc * DEPTH + i];
    C[pixel * OUT_CHANNELS + oc] = sum;
  }
}

extern "C" void conv2d(const float* A, const float* B, float* C) {
  float* dA;
  float* dB;
  float* dC;
  hipMalloc((void**)&dA, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float));
  hipMalloc((void**)&dB, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float));
  hipMalloc((void**)&dC, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float));
  hipMemcpy(dA, A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(conv2d_lds, dim3(BATCH * OUT * OUT), dim3(64), 0, 0, dA, dB, dC);
  hipMemcpy(C, dC, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
