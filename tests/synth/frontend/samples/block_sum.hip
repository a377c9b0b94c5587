#include <hip/hip_runtime.h>

template <typename T> __global__ void block_sum(const T* in, T* out, int n) {
  HIP_DYNAMIC_SHARED(T, sdata)
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  sdata[tid] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) { if (tid < s) sdata[tid] += sdata[tid + s]; __syncthreads(); }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
extern "C" void sums(const float* in, float* out, int n) {
  const int threads = 128, blocks = (n + 255) / 256; float *di, *dout; hipMalloc(&di, n * sizeof(float)); hipMalloc(&dout, blocks * sizeof(float));
  hipMemcpy(di, in, n * sizeof(float), hipMemcpyHostToDevice);
  hipLaunchKernelGGL((block_sum<float>), dim3(blocks), dim3(threads), threads * sizeof(float), 0, di, dout, n);
  hipMemcpy(out, dout, blocks * sizeof(float), hipMemcpyDeviceToHost); hipFree(di); hipFree(dout);
}
