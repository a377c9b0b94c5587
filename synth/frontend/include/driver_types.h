// Types of the CUDA runtime API, and what HIP has not. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_DRIVER_TYPES_H
#define XPILER_DRIVER_TYPES_H
#define XP_API(name) cuda##name
#define XP_STATUS cudaError
#define XP_STREAM CUstream_st
#define XP_EVENT CUevent_st
#include <xpiler/runtime_api.h>
typedef struct CUgraph_st *cudaGraph_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct cudaArray *cudaArray_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef void (*cudaHostFn_t)(void *data);
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
struct cudaUUID_t { char bytes[16]; };
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10, cudaDevAttrComputeMode = 20, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
#endif
