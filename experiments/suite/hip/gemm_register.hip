// A block computes 64 x 64 elements, each thread 4 x 4 of them in registers; sizes are parameters.
#include <hip/hip_runtime.h>

template <int BM, int BN, int BK, int TM, int TN>
__global__ __launch_bounds__((BM / TM) * (BN / TN)) void gemm_blocked(const float* __restrict__ A, const float* __restrict__ B,
                                                                      float* __restrict__ C, int m, int k, int n) {
  __shared__ float As[BK][BM];
  __shared__ float Bs[BK][BN];
  constexpr int THREADS = (BM / TM) * (BN / TN);
  const int tid = threadIdx.x;
  const int tx = tid % (BN / TN), ty = tid / (BN / TN);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = tid; i < BM * BK; i += THREADS) {
      const int r = i / BK, c = i % BK;
      As[c][r] = row0 + r < m && k0 + c < k ? A[(row0 + r) * k + k0 + c] : 0.0f;
    }
    for (int i = tid; i < BK * BN; i += THREADS) {
      const int r = i / BN, c = i % BN;
      Bs[r][c] = k0 + r < k && col0 + c < n ? B[(k0 + r) * n + col0 + c] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < BK; ++p) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = As[p][ty * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = Bs[p][tx * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * TM + i, col = col0 + tx * TN + j;
      if (row < m && col < n) C[row * n + col] = acc[i][j];
    }
  }
}

extern "C" void gemm(const float* A, const float* B, float* C, int m, int k, int n) {
  float *a, *b, *c;
  hipMalloc(&a, sizeof(float) * m * k);
  hipMalloc(&b, sizeof(float) * k * n);
  hipMalloc(&c, sizeof(float) * m * n);
  hipMemcpy(a, A, sizeof(float) * m * k, hipMemcpyHostToDevice);
  hipMemcpy(b, B, sizeof(float) * k * n, hipMemcpyHostToDevice);
  dim3 grid((n + 63) / 64, (m + 63) / 64);
  gemm_blocked<64, 64, 16, 4, 4><<<grid, 256>>>(a, b, c, m, k, n);
  hipDeviceSynchronize();
  hipMemcpy(C, c, sizeof(float) * m * n, hipMemcpyDeviceToHost);
  hipFree(a);
  hipFree(b);
  hipFree(c);
}
