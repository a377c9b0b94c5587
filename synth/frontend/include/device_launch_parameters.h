// The built-in variables of a kernel. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_DEVICE_LAUNCH_PARAMETERS_H
#define XPILER_DEVICE_LAUNCH_PARAMETERS_H
#include <vector_types.h>
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
extern __device__ const int warpSize;
#endif
