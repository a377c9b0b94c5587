#include <hip/hip_runtime.h>

__global__ void compact(const float* x, float* y) {
  int t = threadIdx.x; float v = x[t];
  unsigned long long m = __ballot(v > 0.0f);
  unsigned before = __popcll(m & ((1ull << t) - 1));
  int total = __popcll(m);
  if (v > 0.0f) y[before] = v;
  if (t >= total) y[t] = 0.0f;
}
extern "C" void entry(const float* x, float* y) { float *dx, *dy; hipMalloc(&dx, 256); hipMalloc(&dy, 256); hipMemcpy(dx, x, 256, hipMemcpyHostToDevice);
  compact<<<1, 64>>>(dx, dy); hipMemcpy(y, dy, 256, hipMemcpyDeviceToHost); hipFree(dx); hipFree(dy); }
