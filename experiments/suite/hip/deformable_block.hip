// A block for each query, head and image, threads along the channels, corner weights in registers; sizes are parameters.
#include <hip/hip_runtime.h>
#include <stdint.h>

__global__ void deformable_block(const float* __restrict__ weights, float* __restrict__ output, const float* __restrict__ locations,
                                 const float* __restrict__ value, const int32_t* __restrict__ level_start,
                                 const int32_t* __restrict__ shapes, int pixels, int dim, int levels, int points) {
  const int q = blockIdx.x, m = blockIdx.y, n = blockIdx.z;
  const int unit = (n * gridDim.x + q) * gridDim.y + m;
  const int step = gridDim.y * dim;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0.0f;
    for (int l = 0; l < levels; ++l) {
      const int h = shapes[2 * l], w = shapes[2 * l + 1];
      const float* level = value + (n * pixels + level_start[l]) * step + m * dim + d;
      for (int p = 0; p < points; ++p) {
        const int at = (unit * levels + l) * points + p;
        const float x = locations[2 * at] * w - 0.5f, y = locations[2 * at + 1] * h - 0.5f;
        if (!(x > -1 && y > -1 && x < w && y < h)) continue;
        const int x0 = (int)floorf(x), y0 = (int)floorf(y);
        const float dx = x - x0, dy = y - y0;
        float sample = 0.0f;
        if (y0 >= 0 && x0 >= 0) sample += (1 - dy) * (1 - dx) * level[(y0 * w + x0) * step];
        if (y0 >= 0 && x0 + 1 < w) sample += (1 - dy) * dx * level[(y0 * w + x0 + 1) * step];
        if (y0 + 1 < h && x0 >= 0) sample += dy * (1 - dx) * level[((y0 + 1) * w + x0) * step];
        if (y0 + 1 < h && x0 + 1 < w) sample += dy * dx * level[((y0 + 1) * w + x0 + 1) * step];
        sum += weights[at] * sample;
      }
    }
    output[unit * dim + d] = sum;
  }
}

extern "C" void deformable(const float* value, const int32_t* shapes, const int32_t* level_start,
                           const float* locations, const float* weights, float* output, int batch, int pixels,
                           int heads, int dim, int queries, int levels, int points) {
  float* dValue;
  int32_t* dShapes;
  int32_t* dLevel_start;
  float* dLocations;
  float* dWeights;
  float* dOutput;
  hipMalloc((void**)&dValue, batch * pixels * heads * dim * sizeof(float));
  hipMalloc((void**)&dShapes, levels * 2 * sizeof(int32_t));
  hipMalloc((void**)&dLevel_start, levels * sizeof(int32_t));
  hipMalloc((void**)&dLocations, batch * queries * heads * levels * points * 2 * sizeof(float));
  hipMalloc((void**)&dWeights, batch * queries * heads * levels * points * sizeof(float));
  hipMalloc((void**)&dOutput, batch * queries * heads * dim * sizeof(float));
  hipMemcpy(dValue, value, batch * pixels * heads * dim * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dShapes, shapes, levels * 2 * sizeof(int32_t), hipMemcpyHostToDevice);
  hipMemcpy(dLevel_start, level_start, levels * sizeof(int32_t), hipMemcpyHostToDevice);
  hipMemcpy(dLocations, locations, batch * queries * heads * levels * points * 2 * sizeof(float), hipMemcpyHostToDevice);
  hipMemcpy(dWeights, weights, batch * queries * heads * levels * points * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(deformable_block, dim3(queries, heads, batch), dim3(64), 0, 0,
                     dWeights, dOutput, dLocations, dValue, dLevel_start, dShapes, pixels, dim, levels, points);
  hipMemcpy(output, dOutput, batch * queries * heads * dim * sizeof(float), hipMemcpyDeviceToHost);
  hipFree(dValue);
  hipFree(dShapes);
  hipFree(dLevel_start);
  hipFree(dLocations);
  hipFree(dWeights);
  hipFree(dOutput);
}
