// Max pooling, NHWC, all sizes at run time; rows of windows with an early start value from the window itself.
#include <cuda_runtime.h>

struct PoolShape {
  int batch;
  int size;
  int channels;
  int kernel;
  int stride;
  int out;
};

__global__ void pool_kernel(const float* in, float* out, PoolShape p) {
  const int total = p.batch * p.out * p.out * p.channels;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < total; at += gridDim.x * blockDim.x) {
    int rest = at;
    const int c = rest % p.channels;
    rest /= p.channels;
    const int column = (rest % p.out) * p.stride;
    rest /= p.out;
    const int row = (rest % p.out) * p.stride;
    const int n = rest / p.out;
    float best = in[((n * p.size + row) * p.size + column) * p.channels + c];
    for (int i = 0; i < p.kernel; i++) {
      for (int j = 0; j < p.kernel; j++) {
        const float value = in[((n * p.size + row + i) * p.size + column + j) * p.channels + c];
        if (value > best) best = value;
      }
    }
    out[at] = best;
  }
}

extern "C" void maxpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  const int out = (size - kernel) / stride + 1;
  PoolShape shape = {batch, size, channels, kernel, stride, out};
  float *d_in, *d_out;
  cudaMalloc(&d_in, sizeof(float) * batch * size * size * channels);
  cudaMalloc(&d_out, sizeof(float) * batch * out * out * channels);
  cudaMemcpy(d_in, A, sizeof(float) * batch * size * size * channels, cudaMemcpyHostToDevice);
  pool_kernel<<<64, 128>>>(d_in, d_out, shape);
  cudaMemcpy(C, d_out, sizeof(float) * batch * out * out * channels, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
}
