// Offsets and weights of all samples of a query and head are computed once into LDS, then read by all channels.
#include <hip/hip_runtime.h>
#include <stdint.h>

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

#define SAMPLES (LEVELS * POINTS * 4)

__global__ __launch_bounds__(64) void deformable_lds(const float* value, const int32_t* shapes, const int32_t* level_start,
                                                     const float* locations, const float* weights, float* output) {
  __shared__ int offset[SAMPLES];
  __shared__ float factor[SAMPLES];
  const int unit = blockIdx.x;
  const int m = unit % HEADS;
  const int n = unit / (HEADS * QUERIES);
  for (int s = threadIdx.x; s < SAMPLES; s += 64) {
    const int l = s / (POINTS * 4);
    const int h = shapes[2 * l], w = shapes[2 * l + 1];
    const int at = unit * LEVELS * POINTS + s / 4;
    const float x = locations[2 * at] * w - 0.5f, y = locations[2 * at + 1] * h - 0.5f;
    const int column = (int)floorf(x) + s % 2, row = (int)floorf(y) + s % 4 / 2;
    const bool inside = row >= 0 && row < h && column >= 0 && column < w;
    offset[s] = inside ? ((n * PIXELS + level_start[l] + row * w + column) * HEADS + m) * DIM : 0;
    factor[s] = inside ? weights[at] * (1.0f - fabsf(x - column)) * (1.0f - fabsf(y - row)) : 0.0f;
  }
  __syncthreads();
  for (int d = threadIdx.x; d < DIM; d += 64) {
    float sum = 0.0f;
    for (int s = 0; s < SAMPLES; ++s) sum += factor[s] * value[offset[s] + d];
    output[unit * DIM + d] = sum;
  }
}

extern "C" void deformable(const float* value, const int32_t* shapes, const int32_t* level_start,
                           const float* locations, const float* weights, float* output) {
  float* dValue;
  int32_t* dShapes;
  int32_t* dLevel_start;
  float* dLocations;
  float* dWeights;
  float* dOutput;
  hipMalloc(&dValue, sizeof(float) * BATCH * PIXELS * HEADS * DIM);
  hipMalloc(&dShapes, sizeof(int32_t) * LEVELS * 2);
  hipMalloc(&dLevel_start, sizeof(int32_t) * LEVELS);
  hipMalloc(&dLocations, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS * 2);
  hipMalloc(&dWeights, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS);
  hipMalloc(&dOutput, sizeof(float) * BATCH * QUERIES * HEADS * DIM);
  hipMemcpy(dValue, value, sizeof(float) * BATCH * PIXELS * HEADS * DIM, hipMemcpyHostToDevice);
  hipMemcpy(dShapes, shapes, sizeof(int32_t) * LEVELS * 2, hipMemcpyHostToDevice);
  hipMemcpy(dLevel_start, level_start, sizeof(int32_t) * LEVELS, hipMemcpyHostToDevice);
  hipMemcpy(dLocations, locations, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS * 2, hipMemcpyHostToDevice);
  hipMemcpy(dWeights, weights, sizeof(float) * BATCH * QUERIES * HEADS * LEVELS * POINTS, hipMemcpyHostToDevice);
  deformable_lds<<<BATCH * QUERIES * HEADS, 64>>>(dValue, dShapes, dLevel_start, dLocations, dWeights, dOutput);
  hipMemcpy(output, dOutput, sizeof(float) * BATCH * QUERIES * HEADS * DIM, hipMemcpyDeviceToHost);
  hipFree(dValue);
  hipFree(dShapes);
  hipFree(dLevel_start);
  hipFree(dLocations);
  hipFree(dWeights);
  hipFree(dOutput);
}
