#include <hip/hip_runtime.h>
#define HIP_CHECK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { fprintf(stderr, "hip: %s at %d\n", hipGetErrorString(e_), __LINE__); exit(EXIT_FAILURE); } } while (0)

__global__ void mean(const float* x, float* m, int d) { __shared__ float s[256]; float v = 0; for (int i = threadIdx.x; i < d; i += blockDim.x) v += x[blockIdx.x * d + i];
  s[threadIdx.x] = v; __syncthreads(); for (int k = blockDim.x / 2; k; k /= 2) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
  if (!threadIdx.x) m[blockIdx.x] = s[0] / d; }
__global__ void centre(const float* x, const float* m, float* y, int d) { for (int i = threadIdx.x; i < d; i += blockDim.x) y[blockIdx.x * d + i] = x[blockIdx.x * d + i] - m[blockIdx.x]; }
void centre_rows(const float* x, float* y, int rows, int d, hipStream_t stream) {
  float *dx, *dy, *dm; HIP_CHECK(hipMallocAsync((void**)&dx, rows * d * sizeof(float), stream)); HIP_CHECK(hipMalloc(&dy, rows * d * sizeof(float))); HIP_CHECK(hipMalloc(&dm, rows * sizeof(float)));
  HIP_CHECK(hipMemcpyAsync(dx, x, rows * d * sizeof(float), hipMemcpyHostToDevice, stream));
  mean<<<rows, 256, 0, stream>>>(dx, dm, d);
  hipLaunchKernelGGL(centre, rows, 256, 0, stream, dx, dm, dy, d);
  HIP_CHECK(hipMemcpyAsync(y, dy, rows * d * sizeof(float), hipMemcpyDeviceToHost, stream)); HIP_CHECK(hipStreamSynchronize(stream));
  HIP_CHECK(hipFree(dx)); HIP_CHECK(hipFree(dy)); HIP_CHECK(hipFree(dm)); }
