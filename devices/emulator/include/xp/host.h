// The host API of the CUDA runtime, as far as kernels' wrappers use it. Source: CUDA Runtime API Reference.
// Host and device memory are the same; what a real device would refuse (a wrong direction, a size past the end) ends the run with a report.
#pragma once
#include <stddef.h>

#include "types.h"

enum cudaError {
  cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidConfiguration = 9, cudaErrorInvalidDevice = 101,
  cudaErrorInvalidDeviceFunction = 98, cudaErrorNotReady = 600, cudaErrorIllegalAddress = 700, cudaErrorLaunchFailure = 719, cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaFuncCache { cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2, cudaFuncCachePreferEqual = 3 };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10, cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, multiProcessorCount,
      maxThreadsPerMultiProcessor, memoryClockRate, memoryBusWidth, l2CacheSize, concurrentKernels, integrated, canMapHostMemory;
};
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaCpuDeviceId (-1)
#define cudaMemAttachGlobal 0x01

namespace xp {
cudaError_t allocate(void** at, size_t bytes, const char* name, int line, int managed);
// Carries the name of the variable that a cudaMalloc in the user's text fills, for reports.
struct Named {
  const char* name;
  int line;
  template <class T> cudaError_t cudaMalloc(T** at, size_t bytes) const { return allocate(reinterpret_cast<void**>(at), bytes, name, line, 0); }
  template <class T> cudaError_t cudaMallocManaged(T** at, size_t bytes, unsigned = cudaMemAttachGlobal) const { return allocate(reinterpret_cast<void**>(at), bytes, name, line, 1); }
};
inline Named named(const char* name, int line) { return {name, line}; }
cudaError_t copy(void* to, const void* from, size_t bytes, int kind, const char* what, int line);
cudaError_t set(void* to, int value, size_t bytes, int line);
}  // namespace xp

#ifndef XP_LINE
#define XP_LINE int xp_line = __builtin_LINE()
#endif
template <class T> inline cudaError_t cudaMalloc(T** at, size_t bytes, XP_LINE) { return xp::allocate(reinterpret_cast<void**>(at), bytes, "a buffer", xp_line, 0); }
template <class T> inline cudaError_t cudaMallocManaged(T** at, size_t bytes, unsigned = cudaMemAttachGlobal, XP_LINE) { return xp::allocate(reinterpret_cast<void**>(at), bytes, "a buffer", xp_line, 1); }
template <class T> inline cudaError_t cudaMallocHost(T** at, size_t bytes, unsigned = 0, XP_LINE) { return xp::allocate(reinterpret_cast<void**>(at), bytes, "a pinned buffer", xp_line, 1); }
template <class T> inline cudaError_t cudaHostAlloc(T** at, size_t bytes, unsigned = 0, XP_LINE) { return xp::allocate(reinterpret_cast<void**>(at), bytes, "a pinned buffer", xp_line, 1); }
template <class T> inline cudaError_t cudaMallocAsync(T** at, size_t bytes, cudaStream_t, XP_LINE) { return xp::allocate(reinterpret_cast<void**>(at), bytes, "a buffer", xp_line, 0); }
static inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, XP_LINE) { return xp::copy(to, from, bytes, kind, "cudaMemcpy", xp_line); }
static inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t = nullptr, XP_LINE) { return xp::copy(to, from, bytes, kind, "cudaMemcpyAsync", xp_line); }
static inline cudaError_t cudaMemset(void* to, int value, size_t bytes, XP_LINE) { return xp::set(to, value, bytes, xp_line); }
static inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = nullptr, XP_LINE) { return xp::set(to, value, bytes, xp_line); }
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, XP_LINE);
cudaError_t cudaFree(void* at);
static inline cudaError_t cudaFreeAsync(void* at, cudaStream_t) { return cudaFree(at); }
static inline cudaError_t cudaFreeHost(void* at) { return cudaFree(at); }

// __constant__ and __device__ variables are ordinary globals
template <class T> inline cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  __builtin_memcpy(const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset, from, bytes);
  return cudaSuccess;
}
template <class T> inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  __builtin_memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
  return cudaSuccess;
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void** at, T& symbol) { *at = const_cast<void*>(static_cast<const volatile void*>(&symbol)); return cudaSuccess; }

static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
static inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }
static inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) { *device = host; return cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static inline cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
static inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
static inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
static inline cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
static inline cudaError_t cudaGetDeviceCount(int* count) { *count = 1; return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* about, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
static inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { *stream = nullptr; return cudaSuccess; }
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { *stream = nullptr; return cudaSuccess; }
static inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event);
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
static inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
static inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaEventDestroy(cudaEvent_t event);
template <class K> inline cudaError_t cudaFuncSetAttribute(K, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0) return cudaSuccess;
  return xp::opt_in_shared(static_cast<size_t>(value)) ? cudaSuccess : cudaErrorInvalidValue;
}
template <class K> inline cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
