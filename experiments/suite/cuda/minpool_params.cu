// Minimum pooling, channels last, of sizes known at the call: blocks of 32 channels by 4 pixels.
#include <cuda_runtime.h>
#include <float.h>

__global__ void minpool2d(const float* __restrict__ in, float* __restrict__ out, int side, int pooled, int channels, int kernel, int stride) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int pixel = blockIdx.y * blockDim.y + threadIdx.y;
  const int image = blockIdx.z;
  if (c < channels && pixel < pooled * pooled) {
    const int r = pixel / pooled * stride;
    const int q = pixel % pooled * stride;
    float lowest = FLT_MAX;
    for (int i = r; i < r + kernel; ++i) {
      for (int j = q; j < q + kernel; ++j) {
        lowest = fminf(lowest, in[((image * side + i) * side + j) * channels + c]);
      }
    }
    out[(image * pooled * pooled + pixel) * channels + c] = lowest;
  }
}

extern "C" void minpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int pooled = (size - kernel) / stride + 1;
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * batch * size * size * channels);
  cudaMalloc(&out, sizeof(float) * batch * pooled * pooled * channels);
  cudaMemcpy(in, A, sizeof(float) * batch * size * size * channels, cudaMemcpyHostToDevice);
  const dim3 threads(32, 4);
  const dim3 blocks((channels + 31) / 32, (pooled * pooled + 3) / 4, batch);
  minpool2d<<<blocks, threads>>>(in, out, size, pooled, channels, kernel, stride);
  cudaMemcpy(C, out, sizeof(float) * batch * pooled * pooled * channels, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
