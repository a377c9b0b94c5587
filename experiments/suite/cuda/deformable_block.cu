// Multi-scale deformable attention: a block for each query and head stages its samples in shared memory, threads are the channels.
#include <cuda_runtime.h>
#include <math.h>

#ifndef BATCH
#define BATCH 1
#endif
#ifndef PIXELS
#define PIXELS 13101
#endif
#ifndef HEADS
#define HEADS 8
#endif
#ifndef DIM
#define DIM 256
#endif
#ifndef QUERIES
#define QUERIES 100
#endif
#ifndef LEVELS
#define LEVELS 4
#endif
#ifndef POINTS
#define POINTS 4
#endif

#define SAMPLES (LEVELS * POINTS)

__global__ void msda_block(const float* __restrict__ value, const int* __restrict__ shapes, const int* __restrict__ level_start,
                           const float* __restrict__ locations, const float* __restrict__ weights, float* __restrict__ output) {
  __shared__ int corner[SAMPLES][4];
  __shared__ float share[SAMPLES][4];
  const int query = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
  const int group = (batch * QUERIES + query) * HEADS + head;
  for (int s = threadIdx.x; s < SAMPLES; s += blockDim.x) {
    const int l = s / POINTS;
    const int height = shapes[l * 2], width = shapes[l * 2 + 1];
    const float x = locations[(group * SAMPLES + s) * 2] * width - 0.5f;
    const float y = locations[(group * SAMPLES + s) * 2 + 1] * height - 0.5f;
    const float a = weights[group * SAMPLES + s];
    const int x0 = (int)floorf(x), y0 = (int)floorf(y);
    const float fx = x - x0, fy = y - y0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int row = y0 + k / 2, col = x0 + k % 2;
      const bool inside = row >= 0 && row < height && col >= 0 && col < width;
      corner[s][k] = inside ? level_start[l] + row * width + col : 0;
      share[s][k] = inside ? a * (k / 2 ? fy : 1.0f - fy) * (k % 2 ? fx : 1.0f - fx) : 0.0f;
    }
  }
  __syncthreads();
  for (int d = threadIdx.x; d < DIM; d += blockDim.x) {
    float acc = 0.0f;
    for (int s = 0; s < SAMPLES; ++s) {
#pragma unroll
      for (int k = 0; k < 4; ++k) acc += share[s][k] * value[((batch * PIXELS + corner[s][k]) * HEADS + head) * DIM + d];
    }
    output[group * DIM + d] = acc;
  }
}

extern "C" void deformable(const float* value, const int* shapes, const int* level_start, const float* locations, const float* weights,
                           float* output) {
  float *d_value, *d_locations, *d_weights, *d_output;
  int *d_shapes, *d_start;
  cudaMalloc(&d_value, sizeof(float) * BATCH * PIXELS * HEADS * DIM);
  cudaMalloc(&d_shapes, sizeof(int) * LEVELS * 2);
  cudaMalloc(&d_start, sizeof(int) * LEVELS);
  cudaMalloc(&d_locations, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS * 2);
  cudaMalloc(&d_weights, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS);
  cudaMalloc(&d_output, sizeof(float) * BATCH * QUERIES * HEADS * DIM);
  cudaMemcpy(d_value, value, sizeof(float) * BATCH * PIXELS * HEADS * DIM, cudaMemcpyHostToDevice);
  cudaMemcpy(d_shapes, shapes, sizeof(int) * LEVELS * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(d_start, level_start, sizeof(int) * LEVELS, cudaMemcpyHostToDevice);
  cudaMemcpy(d_locations, locations, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(d_weights, weights, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS, cudaMemcpyHostToDevice);
  const dim3 grid(QUERIES, HEADS, BATCH);
  msda_block<<<grid, 64>>>(d_value, d_shapes, d_start, d_locations, d_weights, d_output);
  cudaMemcpy(output, d_output, sizeof(float) * BATCH * QUERIES * HEADS * DIM, cudaMemcpyDeviceToHost);
  cudaFree(d_value);
  cudaFree(d_shapes);
  cudaFree(d_start);
  cudaFree(d_locations);
  cudaFree(d_weights);
  cudaFree(d_output);
}
