// The execution and memory space specifiers of CUDA and HIP (CUDA C++ Programming Guide, B.1 to B.2). For parsing only: nothing here is compiled or linked.
#ifndef XPILER_HOST_DEFINES_H
#define XPILER_HOST_DEFINES_H
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#if defined(__CUDA__)
#define CUDARTAPI
#define CUDART_CB
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#endif
#ifndef __NVCC__
#define __NVCC__
#endif
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#endif
#endif
