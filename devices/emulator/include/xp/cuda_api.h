// The host API under CUDA's names, and what only CUDA has. Source: CUDA Runtime API Reference.
#pragma once
#define XP_API(name) cuda##name
#define XP_API_NAME(name) "cuda" #name
#define XP_STREAM CUstream_st
#define XP_EVENT CUevent_st
#include "host.h"

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10, cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
static inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp about;
  if (cudaGetDeviceProperties(&about, device) != cudaSuccess) return cudaErrorInvalidDevice;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = about.maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(about.sharedMemPerBlock); break;
    case cudaDevAttrWarpSize: *value = about.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = about.multiProcessorCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = about.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = about.minor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(about.sharedMemPerBlockOptin); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
static inline cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
