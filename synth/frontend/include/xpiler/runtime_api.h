// Types and functions of the runtime API of CUDA and of HIP, which differ in the prefix of their names. Before this file is included, XP_API(Malloc)
// is defined as cudaMalloc or hipMalloc, XP_STATUS as the enumeration of errors, XP_STREAM and XP_EVENT as what the handles point to.
// For parsing only: nothing here is compiled or linked.
#ifndef XPILER_XPILER_RUNTIME_API_H
#define XPILER_XPILER_RUNTIME_API_H
#include <vector_types.h>
enum XP_STATUS {
  XP_API(Success) = 0,
  XP_API(ErrorInvalidValue) = 1,
  XP_API(ErrorMemoryAllocation) = 2,
  XP_API(ErrorInitializationError) = 3,
  XP_API(ErrorInvalidConfiguration) = 9,
  XP_API(ErrorInvalidDevice) = 101,
  XP_API(ErrorInvalidDeviceFunction) = 98,
  XP_API(ErrorInvalidMemcpyDirection) = 21,
  XP_API(ErrorLaunchFailure) = 719,
  XP_API(ErrorLaunchTimeout) = 702,
  XP_API(ErrorLaunchOutOfResources) = 701,
  XP_API(ErrorNotReady) = 600,
  XP_API(ErrorIllegalAddress) = 700,
  XP_API(ErrorNoDevice) = 100,
  XP_API(ErrorNotSupported) = 801,
  XP_API(ErrorUnknown) = 999,
};
typedef enum XP_STATUS XP_API(Error_t);
enum XP_API(MemcpyKind) { XP_API(MemcpyHostToHost) = 0, XP_API(MemcpyHostToDevice) = 1, XP_API(MemcpyDeviceToHost) = 2, XP_API(MemcpyDeviceToDevice) = 3, XP_API(MemcpyDefault) = 4 };
typedef struct XP_STREAM *XP_API(Stream_t);
typedef struct XP_EVENT *XP_API(Event_t);
struct XP_API(DeviceProp) {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin, totalConstMem, memPitch;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, multiProcessorCount;
  int kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, memoryClockRate;
  int memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor, asyncEngineCount, unifiedAddressing, managedMemory, cooperativeLaunch, regsPerMultiprocessor;
  int concurrentManagedAccess, maxBlocksPerMultiProcessor;
  char gcnArchName[256];
};
enum XP_API(FuncAttribute) { XP_API(FuncAttributeMaxDynamicSharedMemorySize) = 8, XP_API(FuncAttributePreferredSharedMemoryCarveout) = 9 };
enum XP_API(FuncCache) { XP_API(FuncCachePreferNone), XP_API(FuncCachePreferShared), XP_API(FuncCachePreferL1), XP_API(FuncCachePreferEqual) };
enum XP_API(SharedMemConfig) { XP_API(SharedMemBankSizeDefault), XP_API(SharedMemBankSizeFourByte), XP_API(SharedMemBankSizeEightByte) };
struct XP_API(FuncAttributes) { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs; };
enum : unsigned int {
  XP_API(HostAllocDefault) = 0,
  XP_API(HostAllocPortable) = 1,
  XP_API(HostAllocMapped) = 2,
  XP_API(HostAllocWriteCombined) = 4,
  XP_API(StreamDefault) = 0,
  XP_API(StreamNonBlocking) = 1,
  XP_API(EventDefault) = 0,
  XP_API(EventBlockingSync) = 1,
  XP_API(EventDisableTiming) = 2,
  XP_API(MemAttachGlobal) = 1,
};
enum { XP_API(CpuDeviceId) = -1 };
extern "C" {
XP_API(Error_t) XP_API(GetLastError)();
XP_API(Error_t) XP_API(PeekAtLastError)();
const char *XP_API(GetErrorString)(XP_API(Error_t) error);
const char *XP_API(GetErrorName)(XP_API(Error_t) error);
XP_API(Error_t) XP_API(SetDevice)(int device);
XP_API(Error_t) XP_API(GetDevice)(int *device);
XP_API(Error_t) XP_API(GetDeviceCount)(int *count);
XP_API(Error_t) XP_API(GetDeviceProperties)(XP_API(DeviceProp) *properties, int device);
XP_API(Error_t) XP_API(DeviceSynchronize)();
XP_API(Error_t) XP_API(DeviceReset)();
XP_API(Error_t) XP_API(DeviceSetCacheConfig)(XP_API(FuncCache) config);
XP_API(Error_t) XP_API(DeviceSetSharedMemConfig)(XP_API(SharedMemConfig) config);
XP_API(Error_t) XP_API(Malloc)(void **p, size_t bytes);
XP_API(Error_t) XP_API(MallocAsync)(void **p, size_t bytes, XP_API(Stream_t) stream);
XP_API(Error_t) XP_API(MallocHost)(void **p, size_t bytes);
XP_API(Error_t) XP_API(HostAlloc)(void **p, size_t bytes, unsigned int flags);
XP_API(Error_t) XP_API(MallocManaged)(void **p, size_t bytes, unsigned int flags = XP_API(MemAttachGlobal));
XP_API(Error_t) XP_API(MallocPitch)(void **p, size_t *pitch, size_t width, size_t height);
XP_API(Error_t) XP_API(Free)(void *p);
XP_API(Error_t) XP_API(FreeAsync)(void *p, XP_API(Stream_t) stream);
XP_API(Error_t) XP_API(FreeHost)(void *p);
XP_API(Error_t) XP_API(HostRegister)(void *p, size_t bytes, unsigned int flags);
XP_API(Error_t) XP_API(HostUnregister)(void *p);
XP_API(Error_t) XP_API(Memcpy)(void *to, const void *from, size_t bytes, XP_API(MemcpyKind) kind);
XP_API(Error_t) XP_API(MemcpyAsync)(void *to, const void *from, size_t bytes, XP_API(MemcpyKind) kind, XP_API(Stream_t) stream = 0);
XP_API(Error_t) XP_API(Memcpy2D)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, XP_API(MemcpyKind) kind);
XP_API(Error_t) XP_API(Memset)(void *p, int value, size_t bytes);
XP_API(Error_t) XP_API(MemsetAsync)(void *p, int value, size_t bytes, XP_API(Stream_t) stream = 0);
XP_API(Error_t) XP_API(MemGetInfo)(size_t *free, size_t *total);
XP_API(Error_t) XP_API(MemPrefetchAsync)(const void *p, size_t bytes, int device, XP_API(Stream_t) stream = 0);
XP_API(Error_t) XP_API(MemcpyToSymbol)(const void *symbol, const void *from, size_t bytes, size_t offset = 0, XP_API(MemcpyKind) kind = XP_API(MemcpyHostToDevice));
XP_API(Error_t) XP_API(MemcpyFromSymbol)(void *to, const void *symbol, size_t bytes, size_t offset = 0, XP_API(MemcpyKind) kind = XP_API(MemcpyDeviceToHost));
XP_API(Error_t) XP_API(StreamCreate)(XP_API(Stream_t) *stream);
XP_API(Error_t) XP_API(StreamCreateWithFlags)(XP_API(Stream_t) *stream, unsigned int flags);
XP_API(Error_t) XP_API(StreamDestroy)(XP_API(Stream_t) stream);
XP_API(Error_t) XP_API(StreamSynchronize)(XP_API(Stream_t) stream);
XP_API(Error_t) XP_API(StreamWaitEvent)(XP_API(Stream_t) stream, XP_API(Event_t) event, unsigned int flags = 0);
XP_API(Error_t) XP_API(EventCreate)(XP_API(Event_t) *event);
XP_API(Error_t) XP_API(EventCreateWithFlags)(XP_API(Event_t) *event, unsigned int flags);
XP_API(Error_t) XP_API(EventDestroy)(XP_API(Event_t) event);
XP_API(Error_t) XP_API(EventRecord)(XP_API(Event_t) event, XP_API(Stream_t) stream = 0);
XP_API(Error_t) XP_API(EventSynchronize)(XP_API(Event_t) event);
XP_API(Error_t) XP_API(EventQuery)(XP_API(Event_t) event);
XP_API(Error_t) XP_API(EventElapsedTime)(float *milliseconds, XP_API(Event_t) start, XP_API(Event_t) stop);
XP_API(Error_t) XP_API(FuncSetCacheConfig)(const void *kernel, XP_API(FuncCache) config);
XP_API(Error_t) XP_API(FuncSetAttribute)(const void *kernel, XP_API(FuncAttribute) attribute, int value);
XP_API(Error_t) XP_API(FuncGetAttributes)(XP_API(FuncAttributes) *attributes, const void *kernel);
XP_API(Error_t) XP_API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *count, const void *kernel, int threads, size_t shared_bytes);
XP_API(Error_t) XP_API(LaunchKernel)(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, XP_API(Stream_t) stream);
XP_API(Error_t) XP_API(LaunchCooperativeKernel)(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, XP_API(Stream_t) stream);
}
template <class T> XP_API(Error_t) XP_API(Malloc)(T **p, size_t bytes);
template <class T> XP_API(Error_t) XP_API(MallocAsync)(T **p, size_t bytes, XP_API(Stream_t) stream);
template <class T> XP_API(Error_t) XP_API(MallocHost)(T **p, size_t bytes, unsigned int flags = 0);
template <class T> XP_API(Error_t) XP_API(HostAlloc)(T **p, size_t bytes, unsigned int flags);
template <class T> XP_API(Error_t) XP_API(MallocManaged)(T **p, size_t bytes, unsigned int flags = XP_API(MemAttachGlobal));
template <class T> XP_API(Error_t) XP_API(MallocPitch)(T **p, size_t *pitch, size_t width, size_t height);
template <class T> XP_API(Error_t) XP_API(MemcpyToSymbol)(const T &symbol, const void *from, size_t bytes, size_t offset = 0, XP_API(MemcpyKind) kind = XP_API(MemcpyHostToDevice));
template <class T> XP_API(Error_t) XP_API(MemcpyFromSymbol)(void *to, const T &symbol, size_t bytes, size_t offset = 0, XP_API(MemcpyKind) kind = XP_API(MemcpyDeviceToHost));
template <class T> XP_API(Error_t) XP_API(FuncSetCacheConfig)(T *kernel, XP_API(FuncCache) config);
template <class T> XP_API(Error_t) XP_API(FuncSetAttribute)(T *kernel, XP_API(FuncAttribute) attribute, int value);
template <class T> XP_API(Error_t) XP_API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *count, T kernel, int threads, size_t shared_bytes);
template <class T> XP_API(Error_t) XP_API(OccupancyMaxPotentialBlockSize)(int *grid, int *block, T kernel, size_t shared_bytes = 0, int limit = 0);
#endif
