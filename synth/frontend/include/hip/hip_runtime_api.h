// The runtime API of HIP (HIP Runtime API Reference). For parsing only: nothing here is compiled or linked.
#ifndef XPILER_HIP_HIP_RUNTIME_API_H
#define XPILER_HIP_HIP_RUNTIME_API_H
#if !defined(__HIP__)
#error "a header of HIP in a file that is not read as HIP: give --from hip"
#endif
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 0
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60000000
#define XP_API(name) hip##name
#define XP_STATUS hipError_t
#define XP_STREAM ihipStream_t
#define XP_EVENT ihipEvent_t
#include <xpiler/runtime_api.h>
// other names of the same
typedef hipDeviceProp hipDeviceProp_t;
typedef hipFuncCache hipFuncCache_t;
typedef hipSharedMemConfig hipSharedMemConfig_t;
typedef void *hipDeviceptr_t;
enum : unsigned int { hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2 };
const hipError_t hipErrorOutOfMemory = hipErrorMemoryAllocation;
enum hipDeviceAttribute_t {
  hipDeviceAttributeMaxThreadsPerBlock,
  hipDeviceAttributeMaxSharedMemoryPerBlock,
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeComputeCapabilityMajor,
  hipDeviceAttributeComputeCapabilityMinor,
};
extern "C" {
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);
hipError_t hipHostMalloc(void **p, size_t bytes, unsigned int flags = 0);
hipError_t hipHostFree(void *p);
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes);
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = 0);
unsigned int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = 0);
}
template <class T> hipError_t hipHostMalloc(T **p, size_t bytes, unsigned int flags = 0);
#define HIP_SYMBOL(symbol) symbol
#endif
