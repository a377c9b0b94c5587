// half x half -> float: four wavefronts for each block, each a 16 x 16 tile; operands pass through LDS.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#ifndef M
#define M 1024
#endif
#ifndef K
#define K 128
#endif
#ifndef N
#define N 128
#endif

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));

constexpr int WAVES = 4;

__global__ __launch_bounds__(WAVES * 64) void gemm_f16(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C) {
  __shared__ _Float16 a_tile[16][16];
  __shared__ _Float16 b_tile[16][16 * WAVES];
  const int lane = threadIdx.x % 64;
  const int wave = threadIdx.x / 64;
  const int row0 = blockIdx.y * 16;
  const int col0 = blockIdx.x * 16 * WAVES;
  const _Float16* a_in = reinterpret_cast<const _Float16*>(A);
  const _Float16* b_in = reinterpret_cast<const _Float16*>(B);
  float4v acc = {0, 0, 0, 0};
  for (int k0 = 0; k0 < K; k0 += 16) {
    const int r = threadIdx.x / 16, c = threadIdx.x % 16;
    a_tile[r][c] = row0 + r < M && k0 + c < K ? a_in[(row0 + r) * K + k0 + c] : (_Float16)0.0f;
    for (int i = threadIdx.x; i < 16 * 16 * WAVES; i += WAVES * 64) {
      const int kr = i / (16 * WAVES), kc = i % (16 * WAVES);
      b_tile[kr][kc] = k0 + kr < K && col0 + kc < N ? b_in[(k0 + kr) * N + col0 + kc] : (_Float16)0.0f;
    }
    __syncthreads();
    half4 a, b;
    for (int i = 0; i < 4; ++i) {
      a[i] = a_tile[lane % 16][lane / 16 * 4 + i];
      b[i] = b_tile[lane / 16 * 4 + i][wave * 16 + lane % 16];
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, acc, 0, 0, 0);
    __syncthreads();
  }
  const int col = col0 + wave * 16 + lane % 16;
  for (int i = 0; i < 4; ++i) {
    const int row = row0 + lane / 16 * 4 + i;
    if (row < M && col < N) C[row * N + col] = acc[i];
  }
}

extern "C" void gemm(const __half* A, const __half* B, float* C) {
  __half *dA, *dB;
  float* dC;
  hipMalloc(&dA, M * K * sizeof(__half));
  hipMalloc(&dB, K * N * sizeof(__half));
  hipMalloc(&dC, M * N * sizeof(float));
  hipMemcpy(dA, A, M * K * sizeof(__half), hipMemcpyHostToDevice);
  hipMemcpy(dB, B, K * N * sizeof(__half), hipMemcpyHostToDevice);
  dim3 grid((N + 16 * WAVES - 1) / (16 * WAVES), (M + 15) / 16);
  hipLaunchKernelGGL(gemm_f16, grid, dim3(WAVES * 64), 0, 0, dA, dB, dC);
  hipMemcpy(C, dC, M * N * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dA);
  hipFree(dB);
  hipFree(dC);
}
