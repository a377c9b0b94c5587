// Direct convolution, channels first; threads along the pixels of a plane.
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

__global__ void conv2dnchw_kernel(const float* A, const float* B, float* C) {
  const int pixel = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  const int oc = hipBlockIdx_y;
  const int n = hipBlockIdx_z;
  if (pixel >= OUT * OUT) return;
  const int oh = pixel / OUT;
  const int ow = pixel % OUT;
  float sum = 0.0f;
  for (int ic = 0; ic < IN_CHANNELS; ic++) {
    for (int kh = 0; kh < KERNEL; kh++) {
      for (int kw = 0; kw < KERNEL; kw++) {
        sum += A[((n * IN_CHANNELS + ic) * SIZE + oh * STRIDE + kh) * SIZE + ow * STRIDE + kw] *
               B[((oc * IN_CHANNELS + ic) * KERNEL + kh) * KERNEL + kw];
      }
    }
  }
  C[(n * OUT_CHANNELS + oc) * OUT * OUT + pixel] = sum;
}

extern "C" void conv2dnchw(const float* A, const float* B, float* C) {
  float* dA;
  float* dB;
  float* dC;
  hipMalloc((void**)&dA, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float));
  hipMalloc((void**)&dB, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float));
  hipMalloc((void**)&dC, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float));
  hipMemcpy(dA, A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(conv2dnchw_kernel, dim3((OUT * OUT + 63) / 64, OUT_CHANNELS, BATCH), dim3(64), 0, 0, dA, dB, dC);
  hipMemcpy(C, dC, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
