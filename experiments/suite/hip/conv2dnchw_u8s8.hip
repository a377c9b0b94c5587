// u8 x s8 -> s32, a thread for each output.
#include <hip/hip_runtime.h>
#include <stdint.h>

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

__global__ void conv2dnchw_bytes(const uint8_t* A, const int8_t* B, int32_t* C) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BATCH * OUT_CHANNELS * OUT * OUT; i += gridDim.x * blockDim.x) {
    const int x = i % OUT, y = i / OUT % OUT, oc = i / (OUT * OUT) % OUT_CHANNELS, n = i / (OUT * OUT * OUT_CHANNELS);
    int sum = 0;
    for (int ic = 0; ic < IN_CHANNELS; ++ic) {
      for (int k = 0; k < KERNEL * KERNEL; ++k) {
        const int pixel = (y * STRIDE + k / KERNEL) * SIZE + x * STRIDE + k % KERNEL;
        sum += A[(n * IN_CHANNELS + ic) * SIZE * SIZE + pixel] * B[(oc * IN_CHANNELS + ic) * KERNEL * KERNEL + k];
      }
    }
    C[i] = sum;
  }
}

extern "C" void conv2dnchw(const uint8_t* A, const int8_t* B, int32_t* C) {
  uint8_t* d_A;
  int8_t* d_B;
  int32_t* d_C;
  hipMalloc(&d_A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(uint8_t));
  hipMalloc(&d_B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(int8_t));
  hipMalloc(&d_C, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(int32_t));
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMemcpyAsync(d_A, A, BATCH * SIZE * SIZE * IN_CHANNELS * sizeof(uint8_t), hipMemcpyHostToDevice, stream);
  hipMemcpyAsync(d_B, B, OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS * sizeof(int8_t), hipMemcpyHostToDevice, stream);
  conv2dnchw_bytes<<<32, 256, 0, stream>>>(d_A, d_B, d_C);
  hipMemcpyAsync(C, d_C, BATCH * OUT * OUT * OUT_CHANNELS * sizeof(int32_t), hipMemcpyDeviceToHost, stream);
  hipStreamSynchronize(stream);
  hipStreamDestroy(stream);
  hipFree(d_A);
  hipFree(d_B);
  hipFree(d_C);
}
