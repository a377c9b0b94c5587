#include <hip/hip_runtime.h>

typedef float floatx4 __attribute__((ext_vector_type(4)));
using floatx2 = __attribute__((__vector_size__(2 * sizeof(float)))) float;
__global__ void axpb(const floatx4* x, floatx4* y, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; floatx4 acc = {0}; acc += x[i] * a; acc[1] = acc.x + 1.0f; acc.w *= 2; floatx4 t = 3.0f; y[i] = acc + t; floatx2 p = {1.0f, 2.0f}; y[i].z += p[1]; }
extern "C" void entry(const float* x, float* y) { float *dx, *dy; hipMalloc(&dx, 1024); hipMalloc(&dy, 1024); hipMemcpy(dx, x, 1024, hipMemcpyHostToDevice); axpb<<<1, 64>>>((floatx4*)dx, (floatx4*)dy, 2.5f); hipMemcpy(y, dy, 1024, hipMemcpyDeviceToHost); hipFree(dx); hipFree(dy); }
