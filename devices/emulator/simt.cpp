// The SIMT runtime: blocks over OS threads, the threads of a block as stackful fibers that are started lazily.
//
// One fiber runs threads 0, 1, 2, ... as a plain loop. When a thread must wait, another fiber goes on: with a thread that can continue, else
// with the next thread that has not started. So a kernel without barriers pays for no switch. Fibers never leave their OS thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XP_WARP_SIZE 32
#include "../runtime/xp_memory.h"
#include "fiber.h"
#include "include/xp/simt.h"

__thread uint3 threadIdx, blockIdx;
__thread xp::Dim3 blockDim, gridDim;

namespace xp {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr int kMaxShared = 200;
constexpr unsigned long kStack = 256 * 1024;

enum ThreadState : unsigned char { unstarted, running, ready, at_barrier, at_warp, finished };

struct Thread {
  int fiber;
  ThreadState state;
  int line, predicate;
  WarpCall* call;
};

struct SharedArray {
  Buffer* buffer;
  unsigned long block;  // that it was last prepared for
};

struct Launch {
  Config config;
  void (*body)(void*);
  void* context;
  unsigned long blocks, next;
  unsigned threads;
  unsigned short* sequence;  // start order of threads
  unsigned long number;
};

struct Worker {
  Launch* launch;
  Thread threads[kMaxThreads];
  unsigned short ready[kMaxThreads];
  unsigned ready_first, ready_count, started, live, waiting, total;
  unsigned current;
  int barrier_line;
  BarrierKind barrier_kind;
  int barrier_result;
  unsigned long warp_live[kMaxThreads / 32], warp_waiting[kMaxThreads / 32];
  Fiber fibers[kMaxThreads + 1];
  int free_fibers[kMaxThreads + 1];
  int free_count, made, current_fiber;
  void* scheduler;
  SharedArray shared[kMaxShared];
  SharedArray dynamic;
  unsigned long block_number, shared_used, random;
};

__thread Worker* worker;
unsigned long opted_in_shared;
int shared_slots;  // indexes given to SharedSlot, from 1
unsigned long launches;

// With cudaFuncSetAttribute a program opts in to more than the default limit.
unsigned long shared_limit() { return opted_in_shared > options.shared_bytes ? opted_in_shared : options.shared_bytes; }

unsigned warp_size() { return options.warp_size ? static_cast<unsigned>(options.warp_size) : 32; }

uint3 position(const Worker* w, unsigned t) {
  const dim3& b = w->launch->config.block;
  return {t % b.x, t / b.x % b.y, t / (b.x * b.y)};
}

void make_current(Worker* w, unsigned t) {
  w->current = t;
  w->threads[t].state = running;
  threadIdx = position(w, t);
}

unsigned long next_random(unsigned long* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

void thread_name(const Worker* w, unsigned t, char* text, size_t size) {
  uint3 p = position(w, t);
  snprintf(text, size, "thread (%u,%u,%u)", p.x, p.y, p.z);
}

// As the user wrote it: an operation without a mask has no suffix.
const char* op_name(const WarpCall* call) {
  static const char* masked[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__all_sync", "__any_sync", "__ballot_sync",
                                 "__syncwarp", "__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
                                 "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"};
  static const char* together[] = {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__all", "__any", "__ballot"};
  return call->together && call->op <= warp_ballot ? together[call->op] : masked[call->op];
}

void push_ready(Worker* w, unsigned t) {
  w->threads[t].state = ready;
  w->ready[(w->ready_first + w->ready_count++) % kMaxThreads] = static_cast<unsigned short>(t);
}

// Makes the threads of `list` runnable, in the order of the options.
void release(Worker* w, unsigned short* list, unsigned count) {
  if (options.order == 1) {
    for (unsigned i = count; i-- > 0;) push_ready(w, list[i]);
    return;
  }
  if (options.order == 2)
    for (unsigned i = count; i > 1; i--) {
      unsigned j = static_cast<unsigned>(next_random(&w->random) % i);
      unsigned short other = list[j];
      list[j] = list[i - 1];
      list[i - 1] = other;
    }
  for (unsigned i = 0; i < count; i++) push_ready(w, list[i]);
}

void release_barrier(Worker* w) {
  unsigned short list[kMaxThreads];
  unsigned count = 0;
  int sum = 0, every = 1;
  for (unsigned t = 0; t < w->total; t++)
    if (w->threads[t].state == at_barrier) {
      list[count++] = static_cast<unsigned short>(t);
      sum += w->threads[t].predicate != 0;
      every = every && w->threads[t].predicate;
    }
  w->barrier_result = w->barrier_kind == barrier_count ? sum : w->barrier_kind == barrier_and ? every : sum != 0;
  for (unsigned i = 0; i < count; i++) w->threads[list[i]].predicate = w->barrier_result;
  w->waiting = 0;
  release(w, list, count);
}

unsigned long shuffle(const Worker* w, unsigned first, unsigned lane, unsigned long present, const WarpCall* c) {
  unsigned width = c->width > 0 ? static_cast<unsigned>(c->width) : warp_size();
  unsigned low = lane & ~(width - 1), high = lane | (width - 1);
  int source = static_cast<int>(lane);
  switch (c->op) {
    case warp_shfl: source = static_cast<int>(low | (static_cast<unsigned>(c->argument) & (width - 1))); break;
    case warp_shfl_up: if (static_cast<long>(lane) - c->argument >= static_cast<long>(low)) source = static_cast<int>(lane) - c->argument; break;
    case warp_shfl_down: if (static_cast<unsigned>(c->argument) <= high - lane) source = static_cast<int>(lane) + c->argument; break;
    default: if ((lane ^ static_cast<unsigned>(c->argument)) <= high) source = static_cast<int>(lane ^ static_cast<unsigned>(c->argument)); break;
  }
  // a lane that does not take part has no value: poison, so that a use of it shows
  return present >> source & 1 ? w->threads[first + static_cast<unsigned>(source)].call->value : ~0ul;
}

unsigned long reduce(const Worker* w, unsigned first, unsigned long present, WarpOp op) {
  bool begun = false;
  unsigned total = 0;
  for (unsigned lane = 0; lane < 64; lane++) {
    if (!(present >> lane & 1)) continue;
    unsigned v = static_cast<unsigned>(w->threads[first + lane].call->value);
    int a = static_cast<int>(total), b = static_cast<int>(v);
    if (!begun) total = v;
    else switch (op) {
      case warp_add: total += v; break;
      case warp_min_s: total = b < a ? v : total; break;
      case warp_max_s: total = b > a ? v : total; break;
      case warp_min_u: total = v < total ? v : total; break;
      case warp_max_u: total = v > total ? v : total; break;
      case warp_and: total &= v; break;
      case warp_or: total |= v; break;
      default: total ^= v; break;
    }
    begun = true;
  }
  return total;
}

// Completes the operation that thread `t` waits in, if all lanes of `need` have come.
void try_lanes(Worker* w, unsigned t, unsigned long need) {
  unsigned size = warp_size(), number = t / size, first = number * size;
  const WarpCall* mine = w->threads[t].call;
  if ((w->warp_waiting[number] & need) != need) return;
  unsigned long ballot = 0;
  bool all_equal = true;
  for (unsigned lane = 0; lane < size; lane++) {
    if (!(need >> lane & 1)) continue;
    const WarpCall* other = w->threads[first + lane].call;
    if (other->mask != mine->mask) return;  // it waits for others; if that never ends, it is reported as a deadlock
    if (other->op != mine->op || (other->line != mine->line && mine->op != warp_sync)) {
      char a[48], b[48];
      thread_name(w, t, a, sizeof a);
      thread_name(w, first + lane, b, sizeof b);
      fail(mine->together ? status_unsupported : status_race, "divergent warp operation in kernel %s: %s is at %s in line %d, %s at %s in line %d", w->launch->config.kernel, a,
           op_name(mine), mine->line, b, op_name(other), other->line);
    }
    if (other->value & 1) ballot |= 1ul << lane;
    all_equal = all_equal && other->value == mine->value;
  }
  unsigned short list[64];
  unsigned count = 0;
  for (unsigned lane = 0; lane < size; lane++) {
    if (!(need >> lane & 1)) continue;
    WarpCall* c = w->threads[first + lane].call;
    switch (c->op) {
      case warp_shfl: case warp_shfl_up: case warp_shfl_down: case warp_shfl_xor: c->result = shuffle(w, first, lane, need, c); break;
      case warp_all: c->result = ballot == need; break;
      case warp_any: c->result = ballot != 0; break;
      case warp_ballot: c->result = ballot; break;
      case warp_sync: break;
      case warp_match_all: c->result = all_equal ? need : 0; break;
      case warp_match_any:
        c->result = 0;
        for (unsigned other = 0; other < size; other++)
          if (need >> other & 1 && w->threads[first + other].call->value == c->value) c->result |= 1ul << other;
        break;
      default: c->result = reduce(w, first, need, c->op); break;
    }
    list[count++] = static_cast<unsigned short>(first + lane);
  }
  w->warp_waiting[number] &= ~need;
  release(w, list, count);
}

// Completes the operation that thread `t` waits in, if all live lanes of its mask have come.
void try_warp(Worker* w, unsigned t) { try_lanes(w, t, w->threads[t].call->mask & w->warp_live[t / warp_size()]); }

// When nobody can go on: lanes that wait in one operation without a mask while all others of their warp wait at a barrier of the block are the
// ones that run it together. (Where others wait in another warp operation, which of the two comes first is not known: a deadlock.)
bool release_together(Worker* w) {
  unsigned size = warp_size();
  for (unsigned first = 0; first < w->total; first += size) {
    unsigned long waiting = w->warp_waiting[first / size];
    if (!waiting) continue;
    unsigned t = first + static_cast<unsigned>(__builtin_ctzl(waiting));
    bool one = true;
    for (unsigned long left = waiting; left; left &= left - 1) {
      const WarpCall *a = w->threads[t].call, *b = w->threads[first + static_cast<unsigned>(__builtin_ctzl(left))].call;
      one = one && b->together && a->op == b->op && a->line == b->line;
    }
    if (!one) continue;
    try_lanes(w, t, waiting);
    if (w->ready_count) return true;
  }
  return false;
}

[[noreturn]] void report_deadlock(Worker* w) {
  char text[900] = "";
  size_t used = 0;
  unsigned named = 0;
  for (unsigned t = 0; t < w->total && named < 6; t++) {
    Thread& thread = w->threads[t];
    if (thread.state != at_barrier && thread.state != at_warp) continue;
    char name[48];
    thread_name(w, t, name, sizeof name);
    const char* what = thread.state == at_barrier ? "__syncthreads" : op_name(thread.call);
    int line = thread.state == at_barrier ? thread.line : thread.call->line;
    // one thread for each place
    bool seen = false;
    for (unsigned s = 0; s < t && !seen; s++) {
      Thread& o = w->threads[s];
      seen = o.state == thread.state && (o.state == at_barrier ? o.line == line : o.call->line == line && o.call->op == thread.call->op);
    }
    if (seen) continue;
    used += static_cast<size_t>(snprintf(text + used, sizeof text - used, "%s%s waits at %s in line %d", named ? "; " : "", name, what, line));
    if (thread.state == at_warp)
      used += static_cast<size_t>(snprintf(text + used, sizeof text - used, " for lanes 0x%lx", thread.call->mask & w->warp_live[t / warp_size()]));
    named++;
  }
  fail(status_race, "deadlock in kernel %s, block (%u,%u,%u): %s", w->launch->config.kernel, blockIdx.x, blockIdx.y, blockIdx.z, text);
}

void start_fiber();

int take_fiber(Worker* w) {
  if (w->free_count) return w->free_fibers[--w->free_count];
  int index = w->made++;
  Fiber& f = w->fibers[index];
  char* memory = static_cast<char*>(mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
  if (memory == MAP_FAILED) fail(status_crash, "out of memory for the stacks of threads");
  mprotect(memory, 4096, PROT_NONE);
  // stacks at equal offsets in their pages would share cache sets
  f.top = memory + kStack - 64 * (static_cast<unsigned long>(index) * 7 % 61);
  make_fiber(&f, start_fiber);
  return index;
}

// Goes on with another thread; returns when the one that waits here can continue. `w` is passed, not read again: see start_fiber.
void switch_away(Worker* w, void** save) {
  if (w->ready_count) {
    unsigned t = w->ready[w->ready_first];
    w->ready_first = (w->ready_first + 1) % kMaxThreads;
    w->ready_count--;
    make_current(w, t);
    int to = w->threads[t].fiber;
    if (to == w->current_fiber && save == &w->fibers[to].stack) return;
    w->current_fiber = to;
    switch_fiber(save, w->fibers[to].stack);
  } else if (w->started < w->total) {
    int to = take_fiber(w);
    w->current_fiber = to;
    switch_fiber(save, w->fibers[to].stack);
  } else if (w->live == 0) {
    switch_fiber(save, w->scheduler);
  } else if (release_together(w)) {
    switch_away(w, save);
  } else {
    report_deadlock(w);
  }
}

void wait_here(Worker* w) {
  w->threads[w->current].fiber = w->current_fiber;
  switch_away(w, &w->fibers[w->current_fiber].stack);
}

void finish_thread(Worker* w) {
  unsigned t = w->current, number = t / warp_size();
  w->threads[t].state = finished;
  w->live--;
  w->warp_live[number] &= ~(1ul << t % warp_size());
  if (w->waiting && w->waiting == w->live) release_barrier(w);
  for (unsigned long left = w->warp_waiting[number]; left; left &= w->warp_waiting[number] & (left - 1))
    try_warp(w, number * warp_size() + static_cast<unsigned>(__builtin_ctzl(left)));
}

// The body of a fiber: starts threads one after the other while none that waited can go on.
void start_fiber() {
  Worker* w = worker;
  for (;;) {
    while (w->started < w->total && !w->ready_count) {
      make_current(w, w->launch->sequence[w->started++]);
      w->launch->body(w->launch->context);
      finish_thread(w);
    }
    int mine = w->current_fiber;
    w->free_fibers[w->free_count++] = mine;
    switch_away(w, &w->fibers[mine].stack);
  }
}

void check_shared(Worker* w) {
  auto check = [&](const SharedArray& a) {
    if (!a.buffer || a.block != w->block_number) return;
    const Buffer* b = a.buffer;
    const char* end = b->data + b->bytes;
    unsigned long before = static_cast<unsigned long>(b->data - b->mapped), after = static_cast<unsigned long>(b->mapped + b->mapped_bytes - end);
    for (unsigned long i = 1; i <= before && i <= 256; i++)
      if (b->data[-static_cast<long>(i)] != '\xff') check_red_zones(b);
    for (unsigned long i = 0; i < after && i < 256; i++)
      if (end[i] != '\xff') check_red_zones(b);
  };
  for (int i = 0; i < shared_slots && i < kMaxShared; i++) check(w->shared[i]);
  check(w->dynamic);
}

void run_block(Worker* w, Launch* l, unsigned long index) {
  const dim3& grid = l->config.grid;
  if (options.order == 1) index = l->blocks - 1 - index;
  // a stride that shares no factor with the number of blocks visits each once
  if (options.order == 2) index = (index * 0x9E3779B1ul % l->blocks + options.seed) % l->blocks;
  blockIdx = {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x % grid.y), static_cast<unsigned>(index / grid.x / grid.y)};
  blockDim = {l->config.block.x, l->config.block.y, l->config.block.z};
  gridDim = {grid.x, grid.y, grid.z};
  w->launch = l;
  w->total = w->live = l->threads;
  w->started = w->waiting = w->ready_first = w->ready_count = 0;
  w->block_number++;
  w->shared_used = l->config.shared;
  w->random = (options.seed * 0x9E3779B97F4A7C15ul) ^ (index + 1) ^ l->number << 32;
  if (!w->random) w->random = 1;
  for (unsigned t = 0; t < l->threads; t++) w->threads[t].state = unstarted;
  unsigned size = warp_size();
  for (unsigned t = 0; t < l->threads; t += size) {
    unsigned here = l->threads - t < size ? l->threads - t : size;
    w->warp_live[t / size] = here == 64 ? ~0ul : (1ul << here) - 1;
    w->warp_waiting[t / size] = 0;
  }
  int first = take_fiber(w);
  w->current_fiber = first;
  switch_fiber(&w->scheduler, w->fibers[first].stack);
  check_shared(w);
  w->launch = nullptr;
}

Worker* this_worker() {
  if (!worker) {
    worker = static_cast<Worker*>(mmap(nullptr, sizeof(Worker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (worker == MAP_FAILED) fail(status_crash, "out of memory");
    use_signal_stack();
  }
  return worker;
}

void run_blocks(Launch* l) {
  Worker* w = this_worker();
  for (;;) {
    unsigned long index = __atomic_fetch_add(&l->next, 1ul, __ATOMIC_RELAXED);
    if (index >= l->blocks) return;
    run_block(w, l, index);
  }
}

// The pool: threads that wait for a launch and take blocks of it.
struct Pool {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t start = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
  Launch* launch = nullptr;
  unsigned long round = 0;
  unsigned threads = 0, busy = 0;
} pool;

void* pool_thread(void*) {
  unsigned long seen = 0;
  for (;;) {
    pthread_mutex_lock(&pool.lock);
    while (pool.round == seen) pthread_cond_wait(&pool.start, &pool.lock);
    seen = pool.round;
    Launch* l = pool.launch;
    pthread_mutex_unlock(&pool.lock);
    run_blocks(l);
    pthread_mutex_lock(&pool.lock);
    if (--pool.busy == 0) pthread_cond_signal(&pool.done);
    pthread_mutex_unlock(&pool.lock);
  }
  return nullptr;
}

void run_parallel(Launch* l) {
  pthread_mutex_lock(&pool.lock);
  while (pool.threads + 1 < options.workers) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, pool_thread, nullptr) != 0) break;
    pthread_detach(thread);
    pool.threads++;
  }
  pool.launch = l;
  pool.busy = pool.threads;
  pool.round++;
  pthread_cond_broadcast(&pool.start);
  pthread_mutex_unlock(&pool.lock);
  run_blocks(l);
  pthread_mutex_lock(&pool.lock);
  while (pool.busy) pthread_cond_wait(&pool.done, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

void check_limits(const Config& c) {
  const unsigned long block[3] = {c.block.x, c.block.y, c.block.z}, grid[3] = {c.grid.x, c.grid.y, c.grid.z};
  const char axis[] = "xyz";
  unsigned long threads = block[0] * block[1] * block[2];
  for (int i = 0; i < 3; i++) {
    if (block[i] == 0 || grid[i] == 0)
      fail(status_limit_exceeded, "launch of %s in line %d: %s.%c is 0", c.kernel, c.line, block[i] ? "gridDim" : "blockDim", axis[i]);
    if (options.block[i] && block[i] > options.block[i])
      fail(status_limit_exceeded, "launch of %s in line %d: blockDim.%c is %lu, the device allows %lu", c.kernel, c.line, axis[i], block[i], options.block[i]);
    if (options.grid[i] && grid[i] > options.grid[i])
      fail(status_limit_exceeded, "launch of %s in line %d: gridDim.%c is %lu, the device allows %lu", c.kernel, c.line, axis[i], grid[i], options.grid[i]);
  }
  unsigned long most = options.threads_per_block && options.threads_per_block < kMaxThreads ? options.threads_per_block : kMaxThreads;
  if (threads > most)
    fail(status_limit_exceeded, "launch of %s in line %d: %lu threads per block, the device allows %lu", c.kernel, c.line, threads, most);
  if (options.shared_bytes && c.shared > shared_limit())
    fail(status_limit_exceeded, "launch of %s in line %d: %lu bytes of dynamic shared memory, the device allows %lu", c.kernel, c.line, c.shared,
         shared_limit());
}

unsigned long greatest_divisor(unsigned long a, unsigned long b) { return b ? greatest_divisor(b, a % b) : a; }

void describe(char* text, unsigned long size) {
  if (!worker || !worker->launch) return;
  snprintf(text, size, ", in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", worker->launch->config.kernel, blockIdx.x, blockIdx.y, blockIdx.z,
           threadIdx.x, threadIdx.y, threadIdx.z);
}

void* prepare_shared(Worker* w, SharedArray* a, const char* name, size_t bytes, size_t alignment) {
  if (a->block == w->block_number && a->buffer) return a->buffer->data;
  if (a->buffer && a->buffer->bytes != bytes) {
    unmap_buffer(a->buffer);
    a->buffer = nullptr;
  }
  if (!a->buffer) a->buffer = map_buffer(name, bytes, kind_shared, alignment);
  else memset(a->buffer->data, 0xFF, bytes);
  a->block = w->block_number;
  return a->buffer->data;
}

}  // namespace

void launch(const Config& config, void (*body)(void*), void* context) {
  if (worker && worker->launch) fail(status_unsupported, "kernel %s is launched from a kernel (line %d)", config.kernel, config.line);
  describe_position = describe;
  check_limits(config);
  Launch l{config, body, context, 1ul * config.grid.x * config.grid.y * config.grid.z, 0, config.block.x * config.block.y * config.block.z, nullptr, ++launches};
  unsigned short sequence[kMaxThreads];
  for (unsigned t = 0; t < l.threads; t++) sequence[t] = static_cast<unsigned short>(options.order == 1 ? l.threads - 1 - t : t);
  if (options.order == 2) {
    unsigned long random = (options.seed + 1) * 0x9E3779B97F4A7C15ul | 1;
    for (unsigned i = l.threads; i > 1; i--) {
      unsigned j = static_cast<unsigned>(next_random(&random) % i);
      unsigned short other = sequence[j];
      sequence[j] = sequence[i - 1];
      sequence[i - 1] = other;
    }
  }
  l.sequence = sequence;
  // small launches stay on one OS thread, where the order of blocks is exact
  if (l.blocks == 1 || options.workers <= 1 || l.blocks * l.threads < 4096) run_blocks(&l);
  else run_parallel(&l);
}

void* shared_array(SharedSlot* slot, size_t bytes, size_t alignment) {
  Worker* w = worker;
  if (!w || !w->launch) fail(status_crash, "shared array '%s' is used outside a kernel", slot->name);
  int index = __atomic_load_n(&slot->index, __ATOMIC_ACQUIRE);
  if (index == 0) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (slot->index == 0) __atomic_store_n(&slot->index, ++shared_slots, __ATOMIC_RELEASE);
    index = slot->index;
    pthread_mutex_unlock(&lock);
    if (index > kMaxShared) fail(status_unsupported, "more than %d shared arrays", kMaxShared);
  }
  SharedArray* a = &w->shared[index - 1];
  if (a->block != w->block_number) {
    w->shared_used += bytes;
    if (options.shared_bytes && w->shared_used > shared_limit())
      fail(status_limit_exceeded, "kernel %s uses %lu bytes of shared memory a block, the device allows %lu", w->launch->config.kernel, w->shared_used,
           shared_limit());
  }
  return prepare_shared(w, a, slot->name, bytes, alignment);
}

void* dynamic_shared(size_t alignment) {
  Worker* w = worker;
  if (!w || !w->launch) fail(status_crash, "dynamic shared memory is used outside a kernel");
  return prepare_shared(w, &w->dynamic, "dynamic shared memory", w->launch->config.shared, alignment);
}

int barrier(BarrierKind kind, int predicate, int line) {
  Worker* w = worker;
  if (!w || !w->launch) fail(status_crash, "__syncthreads is called outside a kernel (line %d)", line);
  Thread& mine = w->threads[w->current];
  if (w->waiting == 0) {
    w->barrier_line = line;
    w->barrier_kind = kind;
  } else if (w->barrier_line != line || w->barrier_kind != kind) {
    char name[48], other[48] = "another";
    thread_name(w, w->current, name, sizeof name);
    for (unsigned t = 0; t < w->total; t++)
      if (w->threads[t].state == at_barrier) {
        thread_name(w, t, other, sizeof other);
        break;
      }
    fail(status_race, "divergent barrier in kernel %s, block (%u,%u,%u): %s waits in line %d, %s came to line %d", w->launch->config.kernel, blockIdx.x,
         blockIdx.y, blockIdx.z, other, w->barrier_line, name, line);
  }
  mine.state = at_barrier;
  mine.predicate = predicate;
  mine.line = line;
  w->waiting++;
  // recorded before a release may make this thread runnable
  mine.fiber = w->current_fiber;
  if (w->waiting == w->live) release_barrier(w);
  wait_here(w);
  return mine.predicate;
}

void warp(WarpCall* call) {
  Worker* w = worker;
  if (!w || !w->launch) fail(status_crash, "%s is called outside a kernel (line %d)", op_name(call), call->line);
  unsigned t = w->current, number = t / warp_size(), lane = t % warp_size();
  if (!(call->mask >> lane & 1)) {
    char name[48];
    thread_name(w, t, name, sizeof name);
    fail(status_race, "%s in line %d of kernel %s: the mask 0x%lx does not name the calling lane %u of %s", op_name(call), call->line,
         w->launch->config.kernel, call->mask, lane, name);
  }
  if (call->op <= warp_shfl_xor && (call->width <= 0 || static_cast<unsigned>(call->width) > warp_size() || (call->width & (call->width - 1))))
    fail(status_crash, "%s in line %d: width %d is not a power of two up to %u", op_name(call), call->line, call->width, warp_size());
  w->threads[t].state = at_warp;
  w->threads[t].call = call;
  w->threads[t].fiber = w->current_fiber;
  w->warp_waiting[number] |= 1ul << lane;
  try_warp(w, t);
  wait_here(w);
}

void unsupported(const char* what, int line) { fail(status_unsupported, "%s in line %d is not emulated", what, line); }

bool in_kernel() { return worker && worker->launch; }

bool opt_in_shared(unsigned long bytes) {
  if (options.shared_opt_in_bytes && bytes > options.shared_opt_in_bytes) return false;
  if (bytes > opted_in_shared) opted_in_shared = bytes;
  return true;
}

unsigned long active_lanes() {
  Worker* w = worker;
  if (!w || !w->launch) return 1;
  return w->warp_live[w->current / warp_size()];
}

}  // namespace xp
