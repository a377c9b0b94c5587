// The host side of the prebuilt runtime (../host.cpp), free of any dialect's names. `what` is the caller's name for the operation in reports.
#pragma once
#include <stddef.h>

namespace xp {

// The values of cudaMemcpyKind and hipMemcpyKind, which agree.
enum CopyKind { copy_host_to_host, copy_host_to_device, copy_device_to_host, copy_device_to_device, copy_default };

void allocate(void** at, size_t bytes, const char* name, const char* what, bool managed);
void release(void* at, const char* what);
void copy(void* to, const void* from, size_t bytes, int kind, const char* what, int line);
void set(void* to, int value, size_t bytes, const char* what, int line);
double milliseconds();  // of a monotonic clock

struct Limits {
  unsigned long threads_per_block, block[3], grid[3], shared_bytes, shared_opt_in_bytes, warp_size, multiprocessors, capability;
};
Limits limits();

}  // namespace xp
