// The CUDA driver API: types only. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_CUDA_H
#define XPILER_CUDA_H
#include <cuda_runtime.h>
typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
#endif
