// Multi-scale deformable attention, a thread for each output element.
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

__device__ float bilinear(const float* data, int height, int width, float h, float w, int head, int channel) {
  const int h_low = floorf(h);
  const int w_low = floorf(w);
  const int h_high = h_low + 1;
  const int w_high = w_low + 1;
  const float lh = h - h_low, lw = w - w_low;
  const float hh = 1 - lh, hw = 1 - lw;
  const int row_stride = width * HEADS * DIM;
  const int offset = head * DIM + channel;
  float v1 = 0, v2 = 0, v3 = 0, v4 = 0;
  if (h_low >= 0 && w_low >= 0) v1 = data[h_low * row_stride + w_low * HEADS * DIM + offset];
  if (h_low >= 0 && w_high <= width - 1) v2 = data[h_low * row_stride + w_high * HEADS * DIM + offset];
  if (h_high <= height - 1 && w_low >= 0) v3 = data[h_high * row_stride + w_low * HEADS * DIM + offset];
  if (h_high <= height - 1 && w_high <= width - 1) v4 = data[h_high * row_stride + w_high * HEADS * DIM + offset];
  return hh * hw * v1 + hh * lw * v2 + lh * hw * v3 + lh * lw * v4;
}

__global__ void msda_naive(const float* value, const int* shapes, const int* level_start, const float* locations, const float* weights,
                           float* output) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= BATCH * QUERIES * HEADS * DIM) return;
  const int channel = index % DIM;
  const int sample = index / DIM;
  const int head = sample % HEADS;
  const int batch = sample / HEADS / QUERIES;
  float sum = 0;
  for (int l = 0; l < LEVELS; ++l) {
    const int height = shapes[2 * l];
    const int width = shapes[2 * l + 1];
    const float* data = value + (batch * PIXELS + level_start[l]) * HEADS * DIM;
    for (int p = 0; p < POINTS; ++p) {
      const int at = (sample * LEVELS + l) * POINTS + p;
      const float w_im = locations[2 * at] * width - 0.5f;
      const float h_im = locations[2 * at + 1] * height - 0.5f;
      if (h_im > -1 && w_im > -1 && h_im < height && w_im < width) {
        sum += bilinear(data, height, width, h_im, w_im, head, channel) * weights[at];
      }
    }
  }
  output[index] = sum;
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
  msda_naive<<<(BATCH * QUERIES * HEADS * DIM + 255) / 256, 256>>>(d_value, d_shapes, d_start, d_locations, d_weights, d_output);
  cudaMemcpy(output, d_output, sizeof(float) * BATCH * QUERIES * HEADS * DIM, cudaMemcpyDeviceToHost);
  cudaFree(d_value);
  cudaFree(d_shapes);
  cudaFree(d_start);
  cudaFree(d_locations);
  cudaFree(d_weights);
  cudaFree(d_output);
}
