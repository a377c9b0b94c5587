#include <hip/hip_runtime.h>

__global__ void rowscale(const float* x, const float* s, float* y) { int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64); int lane = __lane_id(); int row = blockIdx.x * 4 + wave; float f = s[row]; y[row * 64 + lane] = x[row * 64 + lane] * f; }
extern "C" void entry(const float* x, const float* s, float* y) { float *dx, *ds, *dy; hipMalloc(&dx, 16 * 64 * 4); hipMalloc(&ds, 64); hipMalloc(&dy, 16 * 64 * 4); hipMemcpy(dx, x, 16 * 64 * 4, hipMemcpyHostToDevice); hipMemcpy(ds, s, 64, hipMemcpyHostToDevice); rowscale<<<4, 256>>>(dx, ds, dy); hipMemcpy(y, dy, 16 * 64 * 4, hipMemcpyDeviceToHost); hipFree(dx); hipFree(ds); hipFree(dy); }
