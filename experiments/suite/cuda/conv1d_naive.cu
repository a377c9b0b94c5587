// y[i] = x[i] w[0] + x[i+1] w[1] + x[i+2] w[2], a thread for each output.
#include <cuda_runtime.h>

#ifndef OUT
#define OUT 126
#endif
#define TAPS 3

__global__ void conv1d_kernel(const float* x, const float* w, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < OUT) {
    float acc = 0;
    for (int j = 0; j < TAPS; j++) acc += x[i + j] * w[j];
    y[i] = acc;
  }
}

extern "C" void conv1d(const float* x, const float* w, float* y) {
  float *dx, *dw, *dy;
  cudaMalloc(&dx, (OUT + TAPS - 1) * sizeof(float));
  cudaMalloc(&dw, TAPS * sizeof(float));
  cudaMalloc(&dy, OUT * sizeof(float));
  cudaMemcpy(dx, x, (OUT + TAPS - 1) * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dw, w, TAPS * sizeof(float), cudaMemcpyHostToDevice);
  conv1d_kernel<<<(OUT + 127) / 128, 128>>>(dx, dw, dy);
  cudaMemcpy(y, dy, OUT * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dw);
  cudaFree(dy);
}
