// Buffers between guard regions, and how a run ends. Used by the harness and by the emulator runtimes; free of standard headers, since
// emulator headers that user code includes may include it.
#pragma once

namespace xp {

// Statuses, in the order of devices/harness.py.
enum Status { status_ok = 0, status_crash = 1, status_out_of_bounds = 2, status_race = 3, status_limit_exceeded = 4, status_unsupported = 5 };

enum Kind { kind_host = 0, kind_device = 1, kind_managed = 2, kind_shared = 3 };

// Where a buffer lies between its guards: its end at the upper guard, or its start at the lower one.
enum Placement { at_end = 0, at_start = 1 };

struct Buffer {
  char name[64];
  char* data;
  unsigned long bytes;
  char* mapped;
  unsigned long mapped_bytes;
  unsigned char zone;  // what the bytes around the data hold
  Kind kind;
  bool live;
};

struct Options {
  unsigned long order;      // of threads and blocks: 0 forward, 1 backward, 2 shuffled
  unsigned long seed;       // of the shuffle
  Placement placement;      // of buffers
  unsigned long alignment;  // of buffers, in bytes: a power of two
  unsigned long workers;    // OS threads for blocks
  // Red zones hold 0xFF: a value read there is NaN. Where this is set they hold a number, another one for each buffer: a NaN or a copy that
  // is written there shows.
  bool varied_zones;
  // limits of the emulated device; 0 is no limit
  unsigned long threads_per_block, block[3], grid[3], shared_bytes, shared_opt_in_bytes, warp_size, multiprocessors, capability;
};

extern Options options;

// A new buffer filled with 0xFF (its red zones: see Options), between guard regions of several GiB. Ends the run when there is no memory.
// `alignment` 0 is the one of the options, which is also the least.
Buffer* map_buffer(const char* name, unsigned long bytes, Kind kind, unsigned long alignment = 0);
void unmap_buffer(Buffer* buffer);
// The live or freed buffer whose data or guard regions hold `address`, or null.
Buffer* find_buffer(const void* address);
// Ends the run if the bytes around the buffer's data changed.
void check_red_zones(const Buffer* buffer);
void check_all_red_zones();

// Ends this case with a status and a message for the user. Safe in a signal handler.
[[noreturn]] void fail(Status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Set by an emulator: writes where execution is ("block (0,0,0) thread (3,0,0) of kernel k") into a buffer of the given size.
extern void (*describe_position)(char* text, unsigned long size);
// Set by a device that works asynchronously: waits for it. Called after the entry returned, inside the clock of a timing.
extern void (*finish_device)();
// Set by a device with memory of its own: fetches results into the buffers, outside the clock of a timing.
extern void (*collect_results)();
// Gives the calling thread a signal stack of its own, so that a stack overflow can be reported.
void use_signal_stack();

}  // namespace xp
