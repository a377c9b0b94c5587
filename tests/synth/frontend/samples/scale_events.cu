// gpuAssert, events, modified dims, int status
#include <iostream>
#include <chrono>
#include <stdio.h>
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort=true) {
   if (code != cudaSuccess) { fprintf(stderr,"GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line); if (abort) exit(code); }
}
__global__ void scale(float *x, float s, int n) { for (int i = blockIdx.x*blockDim.x+threadIdx.x; i < n; i += gridDim.x*blockDim.x) x[i] *= s; }
extern "C" int run(float *h_x, int n, float s) {
  if (n <= 0) return -1;
  if (h_x == nullptr) return -2;
  cudaEvent_t start, stop; cudaEventCreate(&start); cudaEventCreate(&stop);
  cudaStream_t st; cudaStreamCreate(&st);
  float *d_x = NULL; cudaError_t err;
  err = cudaMalloc((void **)&d_x, n * sizeof(float));
  if (err != cudaSuccess) { std::cerr << "bad " << cudaGetErrorString(err) << std::endl; return 1; }
  gpuErrchk(cudaMemcpyAsync(d_x, h_x, sizeof(float) * n, cudaMemcpyHostToDevice, st));
  int threads = 128; dim3 block, grid; block.x = threads; grid.x = (n + threads - 1) / threads;
  if (grid.x > 65535) grid.x = 65535;
  cudaEventRecord(start, st);
  auto t0 = std::chrono::high_resolution_clock::now();
  scale<<<grid, block, 0, st>>>(d_x, s, n);
  gpuErrchk(cudaPeekAtLastError());
  cudaEventRecord(stop, st); cudaEventSynchronize(stop);
  float ms = 0; cudaEventElapsedTime(&ms, start, stop);
  auto t1 = std::chrono::high_resolution_clock::now();
  std::chrono::duration<double> d = t1 - t0;
  printf("time %f %f\n", ms, d.count());
  std::cout << "t " << ms << " " << std::chrono::duration<double>(t1-t0).count() << "\n";
  gpuErrchk(cudaMemcpy(h_x, d_x, sizeof(float) * n, cudaMemcpyDeviceToHost));
  cudaFree(d_x); cudaEventDestroy(start); cudaStreamDestroy(st);
  return 0;
}
