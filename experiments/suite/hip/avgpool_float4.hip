// Four channels for each thread where the channels are whole multiples of four.
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

#if CHANNELS % 4 == 0
__global__ void avgpool_four(const float* A, float* C) {
  const int quads = CHANNELS / 4;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * OUT * OUT * quads) return;
  const int c = i % quads * 4;
  const int x = i / quads % OUT, y = i / (quads * OUT) % OUT, n = i / (quads * OUT * OUT);
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int k = 0; k < KERNEL * KERNEL; ++k) {
    const int pixel = (n * SIZE + y * STRIDE + k / KERNEL) * SIZE + x * STRIDE + k % KERNEL;
    const float4 v = *reinterpret_cast<const float4*>(&A[pixel * CHANNELS + c]);
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  const float scale = 1.0f / (KERNEL * KERNEL);
  *reinterpret_cast<float4*>(&C[((n * OUT + y) * OUT + x) * CHANNELS + c]) =
      make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale);
}
#else
#error "channels in multiples of four"
#endif

extern "C" void avgpool(const float* A, float* C) {
  float* dA;
  float* dC;
  hipMalloc(&dA, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS);
  hipMalloc(&dC, sizeof(float) * BATCH * OUT * OUT * CHANNELS);
  hipMemcpy(dA, A, sizeof(float) * BATCH * SIZE * SIZE * CHANNELS, hipMemcpyHostToDevice);
  avgpool_four<<<(BATCH * OUT * OUT * CHANNELS / 4 + 127) / 128, 128>>>(dA, dC);
  hipMemcpy(C, dC, sizeof(float) * BATCH * OUT * OUT * CHANNELS, hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dC);
}
