// The host side of the emulator (include/xp/host_runtime.h): allocation, copies and queries over guarded buffers.
#include <string.h>
#include <time.h>

#define XP_WARP_SIZE 32
#include "../runtime/xp_memory.h"
#include "include/xp/host_runtime.h"
#include "include/xp/simt.h"

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

void allocate(void** at, size_t bytes, const char* name, const char* what, bool managed) {
  need_host(what);
  *at = bytes == 0 ? nullptr : map_buffer(name, bytes, managed ? kind_managed : kind_device)->data;
}

void release(void* at, const char* what) {
  need_host(what);
  if (!at) return;
  Buffer* b = find_buffer(at);
  if (!b) fail(status_crash, "%s of memory that no allocation returned", what);
  if (!b->live) fail(status_crash, "%s of buffer '%s', which was freed before", what, b->name);
  if (b->data != at || b->kind == kind_host) fail(status_crash, "%s of buffer '%s' %s", what, b->name, b->kind == kind_host ? "of the caller" : "with a pointer into its middle");
  check_red_zones(b);
  unmap_buffer(b);
}

void copy(void* to, const void* from, size_t bytes, int kind, const char* what, int line) {
  need_host(what);
  if (bytes == 0) return;
  const Buffer* target = need_range(to, bytes, what, line, true);
  const Buffer* source = need_range(from, bytes, what, line, false);
  auto check = [&](const Buffer* b, bool wants_device, const char* side) {
    bool on_device = b && b->kind == kind_device, managed = b && b->kind == kind_managed;
    if (managed || kind == copy_default || on_device == wants_device) return;
    fail(status_crash, "%s in line %d: the %s is %s memory, against the direction of the copy%s%s", what, line, side, on_device ? "device" : "host",
         b ? ": buffer " : "", b ? b->name : "");
  };
  check(target, kind == copy_host_to_device || kind == copy_device_to_device, "destination");
  check(source, kind == copy_device_to_host || kind == copy_device_to_device, "source");
  memmove(to, from, bytes);
}

void set(void* to, int value, size_t bytes, const char* what, int line) {
  need_host(what);
  if (bytes == 0) return;
  const Buffer* b = need_range(to, bytes, what, line, true);
  if (!b || b->kind == kind_host) fail(status_crash, "%s in line %d: the destination is host memory", what, line);
  memset(to, value, bytes);
}

double milliseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

Limits limits() {
  const Options& o = options;
  return {o.threads_per_block, {o.block[0], o.block[1], o.block[2]}, {o.grid[0], o.grid[1], o.grid[2]},
          o.shared_bytes, o.shared_opt_in_bytes, o.warp_size, o.multiprocessors, o.capability};
}

}  // namespace xp
