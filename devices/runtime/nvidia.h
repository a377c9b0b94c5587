// Between the harness and a real GPU: included by the glue that nvcc compiles (devices/nvidia_gpu.py). A device pointer parameter is a
// cudaMalloc copy of the harness's buffer, made at the first call and fetched back at the end; host pointers are passed as they are.
#pragma once
#include <cuda_runtime.h>

#include "xp_memory.h"

namespace xp_nvidia {

constexpr int kMost = 128;
struct Copy {
  void* host;
  void* device;
  size_t bytes;
};
inline Copy copies[kMost];
inline int used = 0;

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  xp::Status status = xp::status_crash;
  if (error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress) status = xp::status_out_of_bounds;
  if (error == cudaErrorInvalidConfiguration || error == cudaErrorLaunchOutOfResources) status = xp::status_limit_exceeded;
  xp::fail(status, "%s: %s", what, cudaGetErrorString(error));
}

inline void finish() {
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
}

inline void collect() {
  for (int i = 0; i < used; i++) check(cudaMemcpy(copies[i].host, copies[i].device, copies[i].bytes, cudaMemcpyDeviceToHost), "copy of results");
}

inline void* device_copy(void* host) {
  for (int i = 0; i < used; i++)
    if (copies[i].host == host) return copies[i].device;
  const xp::Buffer* buffer = xp::find_buffer(host);
  if (!buffer || used == kMost) xp::fail(xp::status_unsupported, "too many device buffers");
  Copy copy{host, nullptr, buffer->bytes};
  check(cudaMalloc(&copy.device, copy.bytes ? copy.bytes : 1), "cudaMalloc");
  check(cudaMemcpy(copy.device, host, copy.bytes, cudaMemcpyHostToDevice), "copy of arguments");
  copies[used++] = copy;
  return copy.device;
}

inline void begin() {
  xp::finish_device = finish;
  xp::collect_results = collect;
}

}  // namespace xp_nvidia
