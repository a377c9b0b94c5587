// Sum pooling, channels last, of sizes known at the call.
#include <cuda_runtime.h>

struct Pool {
  int size, out, channels, kernel, stride;
};

__device__ int input_index(Pool p, int n, int row, int col, int c) { return ((n * p.size + row) * p.size + col) * p.channels + c; }

__global__ void sumpool_kernel(const float* x, float* y, Pool p, int total) {
  const int id = blockDim.x * blockIdx.x + threadIdx.x;
  if (id < total) {
    int rest = id;
    const int c = rest % p.channels;
    rest /= p.channels;
    const int col = rest % p.out;
    rest /= p.out;
    const int row = rest % p.out;
    const int n = rest / p.out;
    float acc = 0.0f;
    for (int i = 0; i < p.kernel; ++i)
      for (int j = 0; j < p.kernel; ++j) acc += x[input_index(p, n, row * p.stride + i, col * p.stride + j, c)];
    y[id] = acc;
  }
}

extern "C" void sumpool(const float* A, float* C, int batch, int size, int channels, int kernel, int stride) {
  Pool p;
  p.size = size;
  p.out = (size - kernel) / stride + 1;
  p.channels = channels;
  p.kernel = kernel;
  p.stride = stride;
  const int total = batch * p.out * p.out * channels;
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * batch * size * size * channels);
  cudaMalloc(&y, sizeof(float) * total);
  cudaMemcpy(x, A, sizeof(float) * batch * size * size * channels, cudaMemcpyHostToDevice);
  sumpool_kernel<<<(total + 191) / 192, 192>>>(x, y, p, total);
  cudaMemcpy(C, y, sizeof(float) * total, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
}
