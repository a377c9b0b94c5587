// The host API of include/xp/host.h: allocation, copies and queries over guarded buffers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XP_WARP_SIZE 32
#include "../runtime/xp_memory.h"
#include "include/xp/simt.h"
#include "include/xp/host.h"

struct CUevent_st {
  double at;
};

namespace xp {
namespace {

void need_host(const char* what) {
  if (in_kernel()) fail(status_unsupported, "%s is called from a kernel", what);
}

// Ends the run unless [at, at+bytes) lies in one live buffer, or in none of ours (memory of the host program).
const Buffer* need_range(const void* at, size_t bytes, const char* what, int line, bool writes) {
  const Buffer* b = find_buffer(at);
  if (!b) return nullptr;
  long offset = static_cast<long>(static_cast<const char*>(at) - b->data);
  if (!b->live) fail(status_out_of_bounds, "%s in line %d %s buffer '%s' after it was freed", what, line, writes ? "writes" : "reads", b->name);
  if (offset < 0 || static_cast<size_t>(offset) > b->bytes || bytes > b->bytes - static_cast<size_t>(offset))
    fail(status_out_of_bounds, "%s in line %d %s %zu bytes at byte offset %ld of buffer '%s', which has %lu bytes", what, line, writes ? "writes" : "reads", bytes,
         offset, b->name, b->bytes);
  return b;
}

}  // namespace

cudaError_t allocate(void** at, size_t bytes, const char* name, int line, int managed) {
  need_host("cudaMalloc");
  (void)line;
  if (bytes == 0) {
    *at = nullptr;
    return cudaSuccess;
  }
  *at = map_buffer(name, bytes, managed ? kind_managed : kind_device)->data;
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, size_t bytes, int kind, const char* what, int line) {
  need_host(what);
  if (bytes == 0) return cudaSuccess;
  const Buffer* target = need_range(to, bytes, what, line, true);
  const Buffer* source = need_range(from, bytes, what, line, false);
  auto check = [&](const Buffer* b, bool wants_device, const char* side) {
    bool on_device = b && b->kind == kind_device, managed = b && b->kind == kind_managed;
    if (managed || kind == cudaMemcpyDefault || on_device == wants_device) return;
    fail(status_crash, "%s in line %d: the %s is %s memory, against the direction of the copy%s%s", what, line, side, on_device ? "device" : "host",
         b ? ": buffer " : "", b ? b->name : "");
  };
  check(target, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, "destination");
  check(source, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice, "source");
  memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t set(void* to, int value, size_t bytes, int line) {
  need_host("cudaMemset");
  if (bytes == 0) return cudaSuccess;
  const Buffer* b = need_range(to, bytes, "cudaMemset", line, true);
  if (!b || b->kind == kind_host) fail(status_crash, "cudaMemset in line %d: the destination is host memory", line);
  memset(to, value, bytes);
  return cudaSuccess;
}

}  // namespace xp

using namespace xp;

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, int line) {
  for (size_t row = 0; row < height; row++)
    copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, kind, "cudaMemcpy2D", line);
  return cudaSuccess;
}

cudaError_t cudaFree(void* at) {
  need_host("cudaFree");
  if (!at) return cudaSuccess;
  Buffer* b = find_buffer(at);
  if (!b) fail(status_crash, "cudaFree of memory that cudaMalloc did not return");
  if (!b->live) fail(status_crash, "cudaFree of buffer '%s', which was freed before", b->name);
  if (b->data != at || b->kind == kind_host) fail(status_crash, "cudaFree of buffer '%s' %s", b->name, b->kind == kind_host ? "of the caller" : "with a pointer into its middle");
  check_red_zones(b);
  unmap_buffer(b);
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    default: return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : cudaGetErrorName(error); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* about, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  memset(about, 0, sizeof *about);
  snprintf(about->name, sizeof about->name, "xpiler emulated device");
  about->totalGlobalMem = 8ul << 30;
  about->sharedMemPerBlock = options.shared_bytes;
  about->sharedMemPerBlockOptin = about->sharedMemPerMultiprocessor = options.shared_opt_in_bytes;
  about->totalConstMem = 65536;
  about->regsPerBlock = 65536;
  about->warpSize = static_cast<int>(options.warp_size);
  about->maxThreadsPerBlock = static_cast<int>(options.threads_per_block);
  for (int i = 0; i < 3; i++) {
    about->maxThreadsDim[i] = static_cast<int>(options.block[i]);
    about->maxGridSize[i] = static_cast<int>(options.grid[i]);
  }
  about->clockRate = 1000000;
  about->memoryClockRate = 1000000;
  about->memoryBusWidth = 4096;
  about->major = static_cast<int>(options.capability / 10);
  about->minor = static_cast<int>(options.capability % 10);
  about->multiProcessorCount = static_cast<int>(options.multiprocessors);
  about->maxThreadsPerMultiProcessor = 2048;
  about->concurrentKernels = about->canMapHostMemory = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
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

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  *available = *total = 8ul << 30;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = static_cast<cudaEvent_t>(calloc(1, sizeof(CUevent_st)));
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  event->at = static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  *milliseconds = static_cast<float>(stop->at - start->at);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}
