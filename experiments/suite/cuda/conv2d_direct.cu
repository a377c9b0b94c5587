// Convolution, NHWC input, OHWI weights, no padding; a thread for each output element.
#include <cuda_runtime.h>

#ifndef BATCH
#define BATCH 16
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef IN_CHANNELS
#define IN_CHANNELS 64
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
#define OUT_SIZE ((SIZE - KERNEL) / STRIDE + 1)

__global__ void conv2d_kernel(const float* input, const float* kernel, float* output) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  int pixel = blockIdx.y * blockDim.y + threadIdx.y;
  int n = blockIdx.z;
  if (o >= OUT_CHANNELS || pixel >= OUT_SIZE * OUT_SIZE) return;
  int oh = pixel / OUT_SIZE;
  int ow = pixel % OUT_SIZE;
  float sum = 0.0f;
  for (int kh = 0; kh < KERNEL; kh++) {
    for (int kw = 0; kw < KERNEL; kw++) {
      for (int c = 0; c < IN_CHANNELS; c++) {
        int ih = oh * STRIDE + kh;
        int iw = ow * STRIDE + kw;
        float v = input[n * SIZE * SIZE * IN_CHANNELS + ih * SIZE * IN_CHANNELS + iw * IN_CHANNELS + c];
        float w = kernel[o * KERNEL * KERNEL * IN_CHANNELS + kh * KERNEL * IN_CHANNELS + kw * IN_CHANNELS + c];
        sum += v * w;
      }
    }
  }
  output[n * OUT_SIZE * OUT_SIZE * OUT_CHANNELS + oh * OUT_SIZE * OUT_CHANNELS + ow * OUT_CHANNELS + o] = sum;
}

extern "C" void conv2d(const float* A, const float* B, float* C) {
  float *d_input, *d_kernel, *d_output;
  size_t input_size = BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(float);
  size_t kernel_size = OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(float);
  size_t output_size = BATCH * OUT_SIZE * OUT_SIZE * OUT_CHANNELS * sizeof(float);
  cudaMalloc(&d_input, input_size);
  cudaMalloc(&d_kernel, kernel_size);
  cudaMalloc(&d_output, output_size);
  cudaMemcpy(d_input, A, input_size, cudaMemcpyHostToDevice);
  cudaMemcpy(d_kernel, B, kernel_size, cudaMemcpyHostToDevice);
  dim3 block(32, 4);
  dim3 grid((OUT_CHANNELS + 31) / 32, (OUT_SIZE * OUT_SIZE + 3) / 4, BATCH);
  conv2d_kernel<<<grid, block>>>(d_input, d_kernel, d_output);
  cudaMemcpy(C, d_output, output_size, cudaMemcpyDeviceToHost);
  cudaFree(d_input);
  cudaFree(d_kernel);
  cudaFree(d_output);
}
