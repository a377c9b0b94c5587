// u8 x s8 -> s32: a wavefront for each output, the sum over the window by shuffles.
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

#define DEPTH (KERNEL * KERNEL * IN_CHANNELS)

__global__ void conv2d_bytes(const uint8_t* A, const int8_t* B, int32_t* C) {
  const int output = blockIdx.x * (blockDim.x / 64) + threadIdx.x / 64;
  const int lane = threadIdx.x % 64;
  if (output >= BATCH * OUT * OUT * OUT_CHANNELS) return;
  const int oc = output % OUT_CHANNELS;
  const int pixel = output / OUT_CHANNELS;
  const int n = pixel / (OUT * OUT), oh = pixel / OUT % OUT, ow = pixel % OUT;
  int sum = 0;
  for (int i = lane; i < DEPTH; i += 64) {
    const int row = oh * STRIDE + i / (KERNEL * IN_CHANNELS);
    const int rest = i % (KERNEL * IN_CHANNELS);
    sum += A[(n * SIZE + row) * SIZE * IN_CHANNELS + ow * STRIDE * IN_CHANNELS + rest] * B[oc * DEPTH + i];
  }
  for (int offset = 32; offset > 0; offset >>= 1) sum += __shfl_down(sum, offset, 64);
  if (lane == 0) C[output] = sum;
}

extern "C" void conv2d(const uint8_t* A, const int8_t* B, int32_t* C) {
  uint8_t* dA;
  int8_t* dB;
  int32_t* dC;
  hipMalloc(&dA, sizeof(uint8_t) * BATCH * SIZE * SIZE * IN_CHANNELS);
  hipMalloc(&dB, sizeof(int8_t) * OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS);
  hipMalloc(&dC, sizeof(int32_t) * BATCH * OUT * OUT * OUT_CHANNELS);
  hipMemcpy(dA, A, sizeof(uint8_t) * BATCH * SIZE * SIZE * IN_CHANNELS, hipMemcpyHostToDevice);
  hipMemcpy(dB, B, sizeof(int8_t) * OUT_CHANNELS * KERNEL * KERNEL * IN_CHANNELS, hipMemcpyHostToDevice);
  conv2d_bytes<<<(BATCH * OUT * OUT * OUT_CHANNELS + 3) / 4, 256>>>(dA, dB, dC);
  hipMemcpy(C, dC, sizeof(int32_t) * BATCH * OUT * OUT * OUT_CHANNELS, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
