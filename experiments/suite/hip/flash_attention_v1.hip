// Flash attention 1, forward: tiles of K and V are the outer loop, rows of O, their maxima and sums go back to memory.
#include <hip/hip_runtime.h>

#ifndef BATCH
#define BATCH 8
#endif
#ifndef HEADS
#define HEADS 16
#endif
#ifndef SEQ
#define SEQ 1024
#endif
#ifndef DIM
#define DIM 32
#endif

#define BR 32
#define BC 32

__global__ void flash_v1(const float* Q, const float* K, const float* V, float* O, float* row_sum, float* row_max) {
  __shared__ float q[BR][DIM];
  __shared__ float k[BC][DIM + 1];
  __shared__ float v[BC][DIM];
  __shared__ float s[BR][BC];
  const int t = threadIdx.x;
  const size_t base = (size_t)(blockIdx.y * HEADS + blockIdx.x) * SEQ * DIM;
  const size_t rows = (size_t)(blockIdx.y * HEADS + blockIdx.x) * SEQ;
  const float scale = 1.0f / sqrtf((float)DIM);
  for (int j0 = 0; j0 < SEQ; j0 += BC) {
    for (int i = t; i < BC * DIM; i += BR) {
      const int r = i / DIM, c = i % DIM;
      k[r][c] = j0 + r < SEQ ? K[base + (j0 + r) * DIM + c] : 0.0f;
      v[r][c] = j0 + r < SEQ ? V[base + (j0 + r) * DIM + c] : 0.0f;
    }
    __syncthreads();
    for (int i0 = 0; i0 < SEQ; i0 += BR) {
      const int row = i0 + t;
      if (row < SEQ) {
        for (int d = 0; d < DIM; ++d) q[t][d] = Q[base + row * DIM + d];
        const float old_max = row_max[rows + row];
        const float old_sum = row_sum[rows + row];
        float tile_max = -INFINITY;
        for (int j = 0; j < BC; ++j) {
          float dot = 0.0f;
          for (int d = 0; d < DIM; ++d) dot += q[t][d] * k[j][d];
          s[t][j] = j0 + j < SEQ ? dot * scale : -INFINITY;
          tile_max = fmaxf(tile_max, s[t][j]);
        }
        float tile_sum = 0.0f;
        for (int j = 0; j < BC; ++j) {
          s[t][j] = expf(s[t][j] - tile_max);
          tile_sum += s[t][j];
        }
        const float new_max = fmaxf(old_max, tile_max);
        const float keep = expf(old_max - new_max), add = expf(tile_max - new_max);
        const float new_sum = keep * old_sum + add * tile_sum;
        for (int d = 0; d < DIM; ++d) {
          float sum = 0.0f;
          for (int j = 0; j < BC; ++j) sum += s[t][j] * v[j][d];
          float* o = &O[base + row * DIM + d];
          *o = (old_sum * keep * *o + add * sum) / new_sum;
        }
        row_max[rows + row] = new_max;
        row_sum[rows + row] = new_sum;
      }
    }
    __syncthreads();
  }
}

__global__ void flash_start(float* O, float* row_sum, float* row_max) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < BATCH * HEADS * SEQ * DIM) O[i] = 0.0f;
  if (i < BATCH * HEADS * SEQ) {
    row_sum[i] = 0.0f;
    row_max[i] = -INFINITY;
  }
}

static void launch_flash(const float* Q, const float* K, const float* V, float* O) {
  float *row_sum, *row_max;
  hipMalloc(&row_sum, sizeof(float) * BATCH * HEADS * SEQ);
  hipMalloc(&row_max, sizeof(float) * BATCH * HEADS * SEQ);
  flash_start<<<(BATCH * HEADS * SEQ * DIM + 255) / 256, 256>>>(O, row_sum, row_max);
  flash_v1<<<dim3(HEADS, BATCH), BR>>>(Q, K, V, O, row_sum, row_max);
  hipFree(row_sum);
  hipFree(row_max);
}

extern "C" void flash_attention(const float* Q, const float* K, const float* V, float* O) {
  float* dQ;
  float* dK;
  float* dV;
  float* dO;
  hipMalloc(&dQ, sizeof(float) * BATCH * HEADS * SEQ * DIM);
  hipMalloc(&dK, sizeof(float) * BATCH * HEADS * SEQ * DIM);
  hipMalloc(&dV, sizeof(float) * BATCH * HEADS * SEQ * DIM);
  hipMalloc(&dO, sizeof(float) * BATCH * HEADS * SEQ * DIM);
  hipMemcpy(dQ, Q, sizeof(float) * BATCH * HEADS * SEQ * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dK, K, sizeof(float) * BATCH * HEADS * SEQ * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dV, V, sizeof(float) * BATCH * HEADS * SEQ * DIM, hipMemcpyHostToDevice);
  launch_flash(dQ, dK, dV, dO);
  hipMemcpy(O, dO, sizeof(float) * BATCH * HEADS * SEQ * DIM, hipMemcpyDeviceToHost);
  hipFree(dQ);
  hipFree(dK);
  hipFree(dV);
  hipFree(dO);
}
