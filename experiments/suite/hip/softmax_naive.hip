// One thread for each row.
#include <hip/hip_runtime.h>

#ifndef ROWS
#define ROWS 36
#endif
#ifndef COLS
#define COLS 128
#endif

__global__ void softmax_rows(const float* A, float* C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= ROWS) return;
  float largest = A[row * COLS];
  for (int c = 1; c < COLS; ++c) largest = fmaxf(largest, A[row * COLS + c]);
  float sum = 0.0f;
  for (int c = 0; c < COLS; ++c) {
    C[row * COLS + c] = expf(A[row * COLS + c] - largest);
    sum += C[row * COLS + c];
  }
  for (int c = 0; c < COLS; ++c) C[row * COLS + c] /= sum;
}

extern "C" void softmax(const float* A, float* C) {
  float* d_A;
  float* d_C;
  hipMalloc(&d_A, ROWS * COLS * sizeof(float));
  hipMalloc(&d_C, ROWS * COLS * sizeof(float));
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMemcpyAsync(d_A, A, ROWS * COLS * sizeof(float), hipMemcpyHostToDevice, stream);
  softmax_rows<<<(ROWS + 63) / 64, 64, 0, stream>>>(d_A, d_C);
  hipMemcpyAsync(C, d_C, ROWS * COLS * sizeof(float), hipMemcpyDeviceToHost, stream);
  hipStreamSynchronize(stream);
  hipStreamDestroy(stream);
  hipFree(d_A);
  hipFree(d_C);
}
