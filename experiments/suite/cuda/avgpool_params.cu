// Average pooling, channels last, of sizes known at the call; windows are clipped to the picture as in general-purpose code.
#include <cuda_runtime.h>

__global__ void avg_pool_forward(const int count, const float* bottom, const int height, const int width, const int channels,
                                 const int pooled, const int kernel, const int stride, float* top) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < count; index += blockDim.x * gridDim.x) {
    const int c = index % channels;
    const int pw = (index / channels) % pooled;
    const int ph = (index / channels / pooled) % pooled;
    const int n = index / channels / pooled / pooled;
    const int hstart = ph * stride;
    const int wstart = pw * stride;
    const int hend = min(hstart + kernel, height);
    const int wend = min(wstart + kernel, width);
    float sum = 0;
    const float* slice = bottom + n * height * width * channels;
    for (int h = hstart; h < hend; ++h) {
      for (int w = wstart; w < wend; ++w) {
        sum += slice[(h * width + w) * channels + c];
      }
    }
    top[index] = sum / ((hend - hstart) * (wend - wstart));
  }
}

extern "C" void avgpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int pooled = (size - kernel) / stride + 1;
  const int count = batch * pooled * pooled * channels;
  float *bottom, *top;
  cudaMalloc(&bottom, sizeof(float) * batch * size * size * channels);
  cudaMalloc(&top, sizeof(float) * count);
  cudaMemcpy(bottom, A, sizeof(float) * batch * size * size * channels, cudaMemcpyHostToDevice);
  avg_pool_forward<<<64, 128>>>(count, bottom, size, size, channels, pooled, kernel, stride, top);
  cudaMemcpy(C, top, sizeof(float) * count, cudaMemcpyDeviceToHost);
  cudaFree(bottom);
  cudaFree(top);
}
