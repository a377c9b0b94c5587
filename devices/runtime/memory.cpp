// See xp_memory.h.
#include "xp_memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

namespace xp {

Options options;
Record* record;
void (*describe_position)(char*, unsigned long);
void (*finish_device)();
void (*collect_results)();

namespace {

constexpr unsigned long kPage = 4096;
constexpr unsigned long kSlots = 512;
unsigned long gap = 1ul << 34;  // address space of one buffer: 8 GiB of guard on either side of its first byte, nearly
char* arena;
Buffer buffers[kSlots];
unsigned long used;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void reserve() {
  while (gap >= 1ul << 24) {
    void* got = mmap(nullptr, gap * kSlots, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got != MAP_FAILED) {
      arena = static_cast<char*>(got);
      return;
    }
    gap >>= 1;  // a small address space: smaller guards
  }
  fail(status_crash, "no address space for guarded buffers");
}

unsigned long take_slot() {
  if (used < kSlots) return used++;
  for (unsigned long i = 0; i < kSlots; i++)
    if (!buffers[i].live) return i;
  fail(status_unsupported, "more than %lu live buffers", kSlots);
}

}  // namespace

Buffer* map_buffer(const char* name, unsigned long bytes, Kind kind, unsigned long alignment) {
  pthread_mutex_lock(&lock);
  if (!arena) reserve();
  unsigned long slot = take_slot();
  Buffer* b = &buffers[slot];
  if (alignment < options.alignment) alignment = options.alignment;
  if (alignment == 0) alignment = 1;
  unsigned long pages = (bytes + alignment + kPage - 1) / kPage * kPage;
  if (bytes % kPage == 0 && bytes > 0) pages = bytes;
  if (pages >= gap / 2) fail(status_crash, "buffer '%s' of %lu bytes is too large", name, bytes);
  char* start = arena + slot * gap + gap / 2;
  if (mprotect(start, pages, PROT_READ | PROT_WRITE) != 0) fail(status_crash, "out of memory: buffer '%s' of %lu bytes", name, bytes);
  memset(start, 0xFF, pages);
  unsigned long end_offset = (pages - bytes) / alignment * alignment;
  snprintf(b->name, sizeof b->name, "%s", name);
  b->mapped = start;
  b->mapped_bytes = pages;
  b->data = options.placement == at_end ? start + end_offset : start;
  b->bytes = bytes;
  b->kind = kind;
  b->zone = 0xFF;
  if (options.varied_zones && kind != kind_shared) {
    b->zone = static_cast<unsigned char>(0x41 + slot % 26);  // a small number in any floating-point type
    memset(start, b->zone, static_cast<unsigned long>(b->data - start));
    memset(b->data + bytes, b->zone, static_cast<unsigned long>(start + pages - (b->data + bytes)));
  }
  b->live = true;
  pthread_mutex_unlock(&lock);
  return b;
}

void unmap_buffer(Buffer* buffer) {
  buffer->live = false;
  // gives the memory back and makes a later access fault
  mmap(buffer->mapped, buffer->mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

Buffer* find_buffer(const void* address) {
  const char* at = static_cast<const char*>(address);
  if (!arena || at < arena || at >= arena + gap * kSlots) return nullptr;
  unsigned long slot = static_cast<unsigned long>(at - arena) / gap;
  return slot < used ? &buffers[slot] : nullptr;
}

void check_red_zones(const Buffer* b) {
  for (unsigned long i = 0; i < b->mapped_bytes; i++) {
    char* at = b->mapped + i;
    if (at == b->data) {
      i += b->bytes;
      if (i >= b->mapped_bytes) break;
      at = b->mapped + i;
    }
    if (static_cast<unsigned char>(*at) != b->zone)
      fail(status_out_of_bounds, "write outside buffer '%s' of %lu bytes, at byte offset %ld", b->name, b->bytes, static_cast<long>(at - b->data));
  }
}

void check_all_red_zones() {
  for (unsigned long i = 0; i < used; i++)
    if (buffers[i].live) check_red_zones(&buffers[i]);
}

void fail(Status status, const char* format, ...) {
  if (record && __atomic_exchange_n(&record->claimed, 1ul, __ATOMIC_SEQ_CST) == 0) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->message, sizeof record->message, format, arguments);
    va_end(arguments);
    record->status = status;
    __atomic_store_n(&record->state, static_cast<unsigned long>(state_failed), __ATOMIC_SEQ_CST);
  } else if (record) {
    sleep(1);  // another thread is writing the record; it ends the process
  }
  _exit(3);
}

void use_signal_stack() {
  static const unsigned long size = 1 << 16;
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = size;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

}  // namespace xp
