// The host API under HIP's names, and what only HIP has. Source: HIP Runtime API Reference; HIP Programming Guide, "Calling __global__ Functions".
#pragma once
#define XP_API(name) hip##name
#define XP_API_NAME(name) "hip" #name
#define XP_STREAM ihipStream_t
#define XP_EVENT ihipEvent_t
#include "host.h"

// Other names of the same
typedef hipDeviceProp hipDeviceProp_t;
typedef hipFuncCache hipFuncCache_t;
enum { hipErrorOutOfMemory = hipErrorMemoryAllocation };
enum : unsigned { hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2 };
template <class T> inline hipError_t hipHostMalloc(T** at, size_t bytes, unsigned = 0) { return xp::allocated(at, bytes, "a pinned buffer", "hipHostMalloc", true); }
static inline hipError_t hipHostFree(void* at) {
  xp::release(at, "hipHostFree");
  return hipSuccess;
}
static inline hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t, XP_LINE) {
  xp::copy(to, from, bytes, kind, "hipMemcpyWithStream", xp_line);
  return hipSuccess;
}
typedef void* hipDeviceptr_t;
static inline hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes, XP_LINE) {
  xp::copy(to, from, bytes, hipMemcpyHostToDevice, "hipMemcpyHtoD", xp_line);
  return hipSuccess;
}
static inline hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes, XP_LINE) {
  xp::copy(to, from, bytes, hipMemcpyDeviceToHost, "hipMemcpyDtoH", xp_line);
  return hipSuccess;
}
static inline hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, XP_LINE) {
  xp::copy(to, from, bytes, hipMemcpyDeviceToDevice, "hipMemcpyDtoD", xp_line);
  return hipSuccess;
}
#define HIP_SYMBOL(symbol) symbol

enum hipDeviceAttribute_t {
  hipDeviceAttributeMaxThreadsPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock, hipDeviceAttributeWarpSize, hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMinor
};
static inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  hipDeviceProp_t about;
  if (hipGetDeviceProperties(&about, device) != hipSuccess) return hipErrorInvalidDevice;
  switch (attribute) {
    case hipDeviceAttributeMaxThreadsPerBlock: *value = about.maxThreadsPerBlock; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: *value = static_cast<int>(about.sharedMemPerBlock); break;
    case hipDeviceAttributeWarpSize: *value = about.warpSize; break;
    case hipDeviceAttributeMultiprocessorCount: *value = about.multiProcessorCount; break;
    case hipDeviceAttributeComputeCapabilityMajor: *value = about.major; break;
    case hipDeviceAttributeComputeCapabilityMinor: *value = about.minor; break;
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

// A launch as a call: the name of a kernel, which may be in parentheses, its configuration and its arguments.
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  ::xp::configure(#kernel, __LINE__, grid, block, shared, stream).run([&](auto... xp_a) { kernel(xp_a...); } __VA_OPT__(, ) __VA_ARGS__)
// where it stands for the argument of a kernel, a null pointer must keep its type
#undef NULL
#define NULL nullptr

// HIP_DYNAMIC_SHARED(float, s) is `extern __shared__ float s[]`; the rewriter does not look into macros of ours
#define HIP_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(::xp::dynamic_shared(alignof(type)));
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
