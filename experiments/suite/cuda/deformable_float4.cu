// Multi-scale deformable attention: a thread for four channels, D / 4 threads for each query, head and batch.
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

__device__ __forceinline__ void add_scaled(float4& sum, const float4* __restrict__ from, float scale) {
  const float4 v = *from;
  sum.x += scale * v.x;
  sum.y += scale * v.y;
  sum.z += scale * v.z;
  sum.w += scale * v.w;
}

__global__ void msda_quads(const float* __restrict__ weights, float* __restrict__ output, const float* __restrict__ locations,
                           const float* __restrict__ value, const int* __restrict__ level_start, const int* __restrict__ shapes) {
  const int q = blockIdx.x, n = blockIdx.y, m = blockIdx.z;
  const int quad = threadIdx.x;
  const int group = (n * QUERIES + q) * HEADS + m;
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (int l = 0; l < LEVELS; l++) {
    const int2 size = make_int2(shapes[2 * l], shapes[2 * l + 1]);
    const float* level = value + ((n * PIXELS + level_start[l]) * HEADS + m) * DIM;
    for (int p = 0; p < POINTS; p++) {
      const int at = (group * LEVELS + l) * POINTS + p;
      const float2 location = reinterpret_cast<const float2*>(locations)[at];
      const float y = location.y * size.x - 0.5f;
      const float x = location.x * size.y - 0.5f;
      if (y <= -1.f || x <= -1.f || y >= size.x || x >= size.y) continue;
      const int top = static_cast<int>(floorf(y)), left = static_cast<int>(floorf(x));
      const float dy = y - top, dx = x - left;
      const float a = weights[at];
      const bool up = top >= 0, down = top + 1 < size.x, west = left >= 0, east = left + 1 < size.y;
      const int step = HEADS * DIM;
      const float* first = level + (top * size.y + left) * step + 4 * quad;
      if (up && west) add_scaled(sum, reinterpret_cast<const float4*>(first), a * (1.f - dy) * (1.f - dx));
      if (up && east) add_scaled(sum, reinterpret_cast<const float4*>(first + step), a * (1.f - dy) * dx);
      if (down && west) add_scaled(sum, reinterpret_cast<const float4*>(first + size.y * step), a * dy * (1.f - dx));
      if (down && east) add_scaled(sum, reinterpret_cast<const float4*>(first + (size.y + 1) * step), a * dy * dx);
    }
  }
  reinterpret_cast<float4*>(output)[group * (DIM / 4) + quad] = sum;
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
  msda_quads<<<dim3(QUERIES, BATCH, HEADS), DIM / 4>>>(d_weights, d_output, d_locations, d_value, d_start, d_shapes);
  cudaMemcpy(output, d_output, sizeof(float) * BATCH * QUERIES * HEADS * DIM, cudaMemcpyDeviceToHost);
  cudaFree(d_value);
  cudaFree(d_shapes);
  cudaFree(d_start);
  cudaFree(d_locations);
  cudaFree(d_weights);
  cudaFree(d_output);
}
