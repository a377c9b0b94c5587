// Multi-scale deformable attention: one thread for each value of the output; corners outside of a level count as 0.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
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

#define HIP_CHECK(expression)                                                          \
  {                                                                                    \
    const hipError_t error = (expression);                                             \
    if (error != hipSuccess) {                                                         \
      fprintf(stderr, "HIP error %d at %s:%d: %s\n", error, __FILE__, __LINE__,        \
              hipGetErrorString(error));                                               \
      exit(1);                                                                         \
    }                                                                                  \
  }

__device__ float corner(const float* level, int height, int width, int row, int column) {
  if (row < 0 || row >= height || column < 0 || column >= width) return 0.0f;
  return level[(row * width + column) * HEADS * DIM];
}

__global__ void deformable_kernel(const float* value, const int32_t* shapes, const int32_t* level_start, const float* locations,
                                  const float* weights, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * QUERIES * HEADS * DIM) return;
  const int d = i % DIM;
  const int m = i / DIM % HEADS;
  const int n = i / (DIM * HEADS * QUERIES);
  float sum = 0.0f;
  for (int l = 0; l < LEVELS; ++l) {
    const int height = shapes[2 * l], width = shapes[2 * l + 1];
    const float* level = value + ((n * PIXELS + level_start[l]) * HEADS + m) * DIM + d;
    for (int p = 0; p < POINTS; ++p) {
      const int at = (i / DIM * LEVELS + l) * POINTS + p;
      const float x = locations[2 * at] * width - 0.5f;
      const float y = locations[2 * at + 1] * height - 0.5f;
      const int left = (int)floorf(x), top = (int)floorf(y);
      const float fx = x - left, fy = y - top;
      const float upper = (1.0f - fx) * corner(level, height, width, top, left) + fx * corner(level, height, width, top, left + 1);
      const float lower = (1.0f - fx) * corner(level, height, width, top + 1, left) + fx * corner(level, height, width, top + 1, left + 1);
      sum += weights[at] * ((1.0f - fy) * upper + fy * lower);
    }
  }
  output[i] = sum;
}

extern "C" void deformable(const float* value, const int32_t* shapes, const int32_t* level_start,
                           const float* locations, const float* weights, float* output) {
  float* d_value = nullptr;
  int32_t* d_shapes = nullptr;
  int32_t* d_level_start = nullptr;
  float* d_locations = nullptr;
  float* d_weights = nullptr;
  float* d_output = nullptr;
  HIP_CHECK(hipMalloc(&d_value, BATCH * PIXELS * HEADS * DIM * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_shapes, LEVELS * 2 * sizeof(int32_t)));
  HIP_CHECK(hipMalloc(&d_level_start, LEVELS * sizeof(int32_t)));
  HIP_CHECK(hipMalloc(&d_locations, BATCH * QUERIES * HEADS * LEVELS * POINTS * 2 * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_weights, BATCH * QUERIES * HEADS * LEVELS * POINTS * sizeof(float)));
  HIP_CHECK(hipMalloc(&d_output, BATCH * QUERIES * HEADS * DIM * sizeof(float)));
  HIP_CHECK(hipMemcpy(d_value, value, BATCH * PIXELS * HEADS * DIM * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_shapes, shapes, LEVELS * 2 * sizeof(int32_t), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_level_start, level_start, LEVELS * sizeof(int32_t), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_locations, locations, BATCH * QUERIES * HEADS * LEVELS * POINTS * 2 * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(d_weights, weights, BATCH * QUERIES * HEADS * LEVELS * POINTS * sizeof(float), hipMemcpyHostToDevice));
  deformable_kernel<<<(BATCH * QUERIES * HEADS * DIM + 255) / 256, 256>>>(d_value, d_shapes, d_level_start, d_locations, d_weights, d_output);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(output, d_output, BATCH * QUERIES * HEADS * DIM * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(d_value));
  HIP_CHECK(hipFree(d_shapes));
  HIP_CHECK(hipFree(d_level_start));
  HIP_CHECK(hipFree(d_locations));
  HIP_CHECK(hipFree(d_weights));
  HIP_CHECK(hipFree(d_output));
}
