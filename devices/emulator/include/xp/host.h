// The host API of a GPU runtime, as far as kernels' wrappers use it: CUDA's and HIP's, which differ in the prefix of their names only. Before
// this file is included, XP_API(Malloc) is defined as cudaMalloc or hipMalloc, and XP_API_NAME(Malloc) as that name in quotes.
// Sources: CUDA Runtime API Reference; HIP Runtime API Reference.
// Host and device memory are the same; what a real device would refuse (a wrong direction, a size past the end) ends the run with a report.
#pragma once
#include <stddef.h>
#include <string.h>

#include "host_runtime.h"
#include "simt.h"
#include "types.h"

enum XP_API(Error) {
  XP_API(Success) = 0,
  XP_API(ErrorInvalidValue) = 1,
  XP_API(ErrorMemoryAllocation) = 2,
  XP_API(ErrorInvalidConfiguration) = 9,
  XP_API(ErrorInvalidDeviceFunction) = 98,
  XP_API(ErrorNoDevice) = 100,
  XP_API(ErrorInvalidDevice) = 101,
  XP_API(ErrorNotReady) = 600,
  XP_API(ErrorIllegalAddress) = 700,
  XP_API(ErrorLaunchFailure) = 719,
  XP_API(ErrorUnknown) = 999
};
typedef enum XP_API(Error) XP_API(Error_t);
enum XP_API(MemcpyKind) {
  XP_API(MemcpyHostToHost) = 0,
  XP_API(MemcpyHostToDevice) = 1,
  XP_API(MemcpyDeviceToHost) = 2,
  XP_API(MemcpyDeviceToDevice) = 3,
  XP_API(MemcpyDefault) = 4
};
enum XP_API(FuncAttribute) { XP_API(FuncAttributeMaxDynamicSharedMemorySize) = 8, XP_API(FuncAttributePreferredSharedMemoryCarveout) = 9 };
enum XP_API(FuncCache) { XP_API(FuncCachePreferNone), XP_API(FuncCachePreferShared), XP_API(FuncCachePreferL1), XP_API(FuncCachePreferEqual) };
struct XP_STREAM;
struct XP_EVENT {
  double at;
};
typedef struct XP_STREAM* XP_API(Stream_t);
typedef struct XP_EVENT* XP_API(Event_t);
struct XP_API(DeviceProp) {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, multiProcessorCount,
      maxThreadsPerMultiProcessor, memoryClockRate, memoryBusWidth, l2CacheSize, concurrentKernels, integrated, canMapHostMemory;
  char gcnArchName[256];
};
enum : unsigned {
  XP_API(StreamDefault) = 0x00,
  XP_API(StreamNonBlocking) = 0x01,
  XP_API(EventDefault) = 0x00,
  XP_API(EventBlockingSync) = 0x01,
  XP_API(EventDisableTiming) = 0x02,
  XP_API(HostAllocDefault) = 0x00,
  XP_API(HostAllocPortable) = 0x01,
  XP_API(HostAllocMapped) = 0x02,
  XP_API(MemAttachGlobal) = 0x01
};
enum { XP_API(CpuDeviceId) = -1 };

namespace xp {
inline XP_API(Error_t) allocated(void* at, size_t bytes, const char* name, const char* what, bool managed) {
  allocate(static_cast<void**>(at), bytes, name, what, managed);
  return XP_API(Success);
}
// Carries the name of the variable that an allocation in the user's text fills, for reports.
struct Named {
  const char* name;
  int line;
  template <class T> XP_API(Error_t) XP_API(Malloc)(T** at, size_t bytes) const { return allocated(at, bytes, name, XP_API_NAME(Malloc), false); }
  template <class T> XP_API(Error_t) XP_API(MallocManaged)(T** at, size_t bytes, unsigned = XP_API(MemAttachGlobal)) const {
    return allocated(at, bytes, name, XP_API_NAME(MallocManaged), true);
  }
};
inline Named named(const char* name, int line) { return {name, line}; }
}  // namespace xp

template <class T> inline XP_API(Error_t) XP_API(Malloc)(T** at, size_t bytes) { return xp::allocated(at, bytes, "a buffer", XP_API_NAME(Malloc), false); }
template <class T> inline XP_API(Error_t) XP_API(MallocAsync)(T** at, size_t bytes, XP_API(Stream_t)) { return xp::allocated(at, bytes, "a buffer", XP_API_NAME(MallocAsync), false); }
template <class T> inline XP_API(Error_t) XP_API(MallocManaged)(T** at, size_t bytes, unsigned = XP_API(MemAttachGlobal)) {
  return xp::allocated(at, bytes, "a buffer", XP_API_NAME(MallocManaged), true);
}
template <class T> inline XP_API(Error_t) XP_API(MallocHost)(T** at, size_t bytes, unsigned = 0) { return xp::allocated(at, bytes, "a pinned buffer", XP_API_NAME(MallocHost), true); }
template <class T> inline XP_API(Error_t) XP_API(HostAlloc)(T** at, size_t bytes, unsigned = 0) { return xp::allocated(at, bytes, "a pinned buffer", XP_API_NAME(HostAlloc), true); }
static inline XP_API(Error_t) XP_API(Memcpy)(void* to, const void* from, size_t bytes, XP_API(MemcpyKind) kind, XP_LINE) {
  xp::copy(to, from, bytes, kind, XP_API_NAME(Memcpy), xp_line);
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(MemcpyAsync)(void* to, const void* from, size_t bytes, XP_API(MemcpyKind) kind, XP_API(Stream_t) = nullptr, XP_LINE) {
  xp::copy(to, from, bytes, kind, XP_API_NAME(MemcpyAsync), xp_line);
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(Memset)(void* to, int value, size_t bytes, XP_LINE) {
  xp::set(to, value, bytes, XP_API_NAME(Memset), xp_line);
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(MemsetAsync)(void* to, int value, size_t bytes, XP_API(Stream_t) = nullptr, XP_LINE) {
  xp::set(to, value, bytes, XP_API_NAME(MemsetAsync), xp_line);
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(Memcpy2D)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, XP_API(MemcpyKind) kind, XP_LINE) {
  for (size_t row = 0; row < height; row++)
    xp::copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, kind, XP_API_NAME(Memcpy2D), xp_line);
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(Free)(void* at) {
  xp::release(at, XP_API_NAME(Free));
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(FreeAsync)(void* at, XP_API(Stream_t)) {
  xp::release(at, XP_API_NAME(FreeAsync));
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(FreeHost)(void* at) {
  xp::release(at, XP_API_NAME(FreeHost));
  return XP_API(Success);
}

// __constant__ and __device__ variables are ordinary globals
template <class T> inline XP_API(Error_t) XP_API(MemcpyToSymbol)(T& symbol, const void* from, size_t bytes, size_t offset = 0, XP_API(MemcpyKind) = XP_API(MemcpyHostToDevice)) {
  if (offset + bytes > sizeof(T)) return XP_API(ErrorInvalidValue);
  memcpy(const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset, from, bytes);
  return XP_API(Success);
}
template <class T> inline XP_API(Error_t) XP_API(MemcpyFromSymbol)(void* to, const T& symbol, size_t bytes, size_t offset = 0, XP_API(MemcpyKind) = XP_API(MemcpyDeviceToHost)) {
  if (offset + bytes > sizeof(T)) return XP_API(ErrorInvalidValue);
  memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
  return XP_API(Success);
}
template <class T> inline XP_API(Error_t) XP_API(GetSymbolAddress)(void** at, T& symbol) {
  *at = const_cast<void*>(static_cast<const volatile void*>(&symbol));
  return XP_API(Success);
}

static inline XP_API(Error_t) XP_API(GetLastError)() { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(PeekAtLastError)() { return XP_API(Success); }
static inline const char* XP_API(GetErrorName)(XP_API(Error_t) error) {
  switch (error) {
    case XP_API(Success): return XP_API_NAME(Success);
    case XP_API(ErrorInvalidValue): return XP_API_NAME(ErrorInvalidValue);
    case XP_API(ErrorMemoryAllocation): return XP_API_NAME(ErrorMemoryAllocation);
    case XP_API(ErrorInvalidDevice): return XP_API_NAME(ErrorInvalidDevice);
    default: return XP_API_NAME(ErrorUnknown);
  }
}
static inline const char* XP_API(GetErrorString)(XP_API(Error_t) error) { return error == XP_API(Success) ? "no error" : XP_API(GetErrorName)(error); }
static inline XP_API(Error_t) XP_API(MemPrefetchAsync)(const void*, size_t, int, XP_API(Stream_t) = nullptr) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(HostGetDevicePointer)(void** device, void* host, unsigned) {
  *device = host;
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(DeviceSynchronize)() { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(DeviceReset)() { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(SetDevice)(int device) { return device == 0 ? XP_API(Success) : XP_API(ErrorInvalidDevice); }
static inline XP_API(Error_t) XP_API(GetDevice)(int* device) {
  *device = 0;
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(GetDeviceCount)(int* count) {
  *count = 1;
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(GetDeviceProperties)(XP_API(DeviceProp)* about, int device) {
  if (device != 0) return XP_API(ErrorInvalidDevice);
  const xp::Limits limits = xp::limits();
  memset(about, 0, sizeof *about);
  strcpy(about->name, "xpiler emulated device");
  about->totalGlobalMem = 8ul << 30;
  about->sharedMemPerBlock = limits.shared_bytes;
  about->sharedMemPerBlockOptin = about->sharedMemPerMultiprocessor = limits.shared_opt_in_bytes;
  about->totalConstMem = 65536;
  about->regsPerBlock = 65536;
  about->warpSize = static_cast<int>(limits.warp_size);
  about->maxThreadsPerBlock = static_cast<int>(limits.threads_per_block);
  for (int i = 0; i < 3; i++) {
    about->maxThreadsDim[i] = static_cast<int>(limits.block[i]);
    about->maxGridSize[i] = static_cast<int>(limits.grid[i]);
  }
  about->clockRate = 1000000;
  about->memoryClockRate = 1000000;
  about->memoryBusWidth = 4096;
  about->major = static_cast<int>(limits.capability / 10);
  about->minor = static_cast<int>(limits.capability % 10);
  about->multiProcessorCount = static_cast<int>(limits.multiprocessors);
  about->maxThreadsPerMultiProcessor = 2048;
  about->concurrentKernels = about->canMapHostMemory = 1;
#ifdef XP_ARCHITECTURE
  strcpy(about->gcnArchName, XP_ARCHITECTURE);
#endif
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(MemGetInfo)(size_t* available, size_t* total) {
  *available = *total = 8ul << 30;
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(StreamCreate)(XP_API(Stream_t)* stream) {
  *stream = nullptr;
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(StreamCreateWithFlags)(XP_API(Stream_t)* stream, unsigned) { return XP_API(StreamCreate)(stream); }
static inline XP_API(Error_t) XP_API(StreamDestroy)(XP_API(Stream_t)) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(StreamSynchronize)(XP_API(Stream_t)) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(StreamWaitEvent)(XP_API(Stream_t), XP_API(Event_t), unsigned = 0) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(EventCreate)(XP_API(Event_t)* event) {
  *event = new XP_EVENT{0};
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(EventCreateWithFlags)(XP_API(Event_t)* event, unsigned) { return XP_API(EventCreate)(event); }
static inline XP_API(Error_t) XP_API(EventRecord)(XP_API(Event_t) event, XP_API(Stream_t) = nullptr) {
  event->at = xp::milliseconds();
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(EventSynchronize)(XP_API(Event_t)) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(EventQuery)(XP_API(Event_t)) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(EventElapsedTime)(float* milliseconds, XP_API(Event_t) start, XP_API(Event_t) stop) {
  *milliseconds = static_cast<float>(stop->at - start->at);
  return XP_API(Success);
}
static inline XP_API(Error_t) XP_API(EventDestroy)(XP_API(Event_t) event) {
  delete event;
  return XP_API(Success);
}
template <class K> inline XP_API(Error_t) XP_API(FuncSetAttribute)(K, XP_API(FuncAttribute) attribute, int value) {
  if (attribute != XP_API(FuncAttributeMaxDynamicSharedMemorySize) || value < 0) return XP_API(Success);
  return xp::opt_in_shared(static_cast<size_t>(value)) ? XP_API(Success) : XP_API(ErrorInvalidValue);
}
template <class K> inline XP_API(Error_t) XP_API(FuncSetCacheConfig)(K, XP_API(FuncCache)) { return XP_API(Success); }
static inline XP_API(Error_t) XP_API(DeviceSetCacheConfig)(XP_API(FuncCache)) { return XP_API(Success); }
