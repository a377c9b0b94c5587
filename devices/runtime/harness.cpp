// The main program of every built candidate: takes the cases of a file, calls the entry once per case in a process of its own, with
// poisoned outputs and guarded buffers, and writes all buffers back. devices/harness.py writes the input and reads the output.
//
// usage: program INPUT OUTPUT run|time
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "record.h"
#include "xp_memory.h"

#ifndef XP_DEVICE_MEMORY
#define XP_DEVICE_MEMORY 0
#endif

extern "C" void xp_entry(void** arguments);

namespace {

using u64 = uint64_t;

// The input file: a table of 64-bit words (see devices/harness.py), then names, then data.
struct CaseHeader {
  u64 order, seed, placement, poison, alignment, arguments, first_argument, record_offset;
};
struct Argument {
  u64 is_buffer, bytes, kind, data_offset, has_data, out_offset, name_offset, element_bytes;
};
struct Header {
  u64 magic, cases, first_case, workers, limits[12], minimum_seconds_ns, maximum_seconds_ns, warm_ups, maximum_samples;
};

char* input;
char* output;

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

char* map_file(const char* path, bool writable, size_t* size) {
  int fd = open(path, writable ? O_RDWR : O_RDONLY);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) return nullptr;
  *size = static_cast<size_t>(about.st_size);
  void* got = mmap(nullptr, *size, writable ? PROT_READ | PROT_WRITE : PROT_READ, writable ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  close(fd);
  return got == MAP_FAILED ? nullptr : static_cast<char*>(got);
}

void on_fault(int signal_number, siginfo_t* info, void* context) {
  char position[200] = "";
  if (xp::describe_position) xp::describe_position(position, sizeof position);
  const char* access = "access";
#if defined(__x86_64__)
  auto* machine = static_cast<ucontext_t*>(context);
  bool general_protection = machine->uc_mcontext.gregs[REG_TRAPNO] == 13;
  access = machine->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#else
  (void)context;
  bool general_protection = false;
#endif
  if (signal_number == SIGFPE) xp::fail(xp::status_crash, "integer division by zero%s", position);
  if (signal_number == SIGILL) xp::fail(xp::status_crash, "illegal instruction%s", position);
  if (signal_number == SIGABRT) xp::fail(xp::status_crash, "the program called abort%s", position);
  if (general_protection) xp::fail(xp::status_crash, "misaligned vector access, or a wild pointer%s", position);
  const xp::Buffer* buffer = xp::find_buffer(info->si_addr);
  if (!buffer) xp::fail(xp::status_crash, "%s at address %p, which is in no buffer%s", access, info->si_addr, position);
  long offset = static_cast<long>(static_cast<char*>(info->si_addr) - buffer->data);
  if (!buffer->live) xp::fail(xp::status_out_of_bounds, "%s of buffer '%s' after it was freed%s", access, buffer->name, position);
  xp::fail(xp::status_out_of_bounds, "%s outside buffer '%s' of %lu bytes, at byte offset %ld%s", access, buffer->name, buffer->bytes, offset, position);
}

void catch_faults() {
  xp::use_signal_stack();
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (int s : faults) sigaction(s, &action, nullptr);
}

struct Call {
  void** pointers;
  xp::Buffer** buffers;
};

Call prepare(const CaseHeader& c, const Argument* arguments) {
  xp::options.order = c.order;
  xp::options.seed = c.seed;
  xp::options.placement = c.placement ? xp::at_start : xp::at_end;
  xp::options.alignment = c.alignment;
  xp::options.varied_zones = c.poison != 0xFF;
  Call call;
  call.pointers = static_cast<void**>(calloc(c.arguments + 1, sizeof(void*)));
  call.buffers = static_cast<xp::Buffer**>(calloc(c.arguments + 1, sizeof(xp::Buffer*)));
  for (u64 i = 0; i < c.arguments; i++) {
    const Argument& a = arguments[i];
    if (!a.is_buffer) {
      call.pointers[i] = input + a.data_offset;
      continue;
    }
    call.buffers[i] = xp::map_buffer(input + a.name_offset, a.bytes, static_cast<xp::Kind>(a.kind));
    call.pointers[i] = call.buffers[i]->data;
    if (a.has_data) memcpy(call.pointers[i], input + a.data_offset, a.bytes);
    else memset(call.pointers[i], static_cast<int>(c.poison), a.bytes);
  }
  return call;
}

void restore(const CaseHeader& c, const Argument* arguments, const Call& call) {
  for (u64 i = 0; i < c.arguments; i++)
    if (arguments[i].is_buffer && arguments[i].has_data == 2) memcpy(call.pointers[i], input + arguments[i].data_offset, arguments[i].bytes);
}

void run_case(const CaseHeader& c, const Argument* arguments) {
  Call call = prepare(c, arguments);
  double start = now();
  xp_entry(call.pointers);
  if (xp::finish_device) xp::finish_device();
  xp::record->seconds = now() - start;
  if (xp::collect_results) xp::collect_results();
  xp::check_all_red_zones();
  for (u64 i = 0; i < c.arguments; i++)
    if (arguments[i].is_buffer) memcpy(output + arguments[i].out_offset, call.pointers[i], arguments[i].bytes);
}

// The protocol is stated in devices/harness.py (TIMING_PROTOCOL).
void time_case(const Header& h, const CaseHeader& c, const Argument* arguments) {
  Call call = prepare(c, arguments);
  bool repeatable = true;
  for (u64 i = 0; i < c.arguments; i++) repeatable = repeatable && arguments[i].has_data != 2;
  auto once = [&](u64 calls) {
    restore(c, arguments, call);
    double start = now();
    for (u64 i = 0; i < calls; i++) xp_entry(call.pointers);
    if (xp::finish_device) xp::finish_device();
    return (now() - start) / static_cast<double>(calls);
  };
  double budget = static_cast<double>(h.maximum_seconds_ns) * 1e-9, begin = now(), last = once(1);
  for (u64 i = 1; i < 10 * h.warm_ups && now() - begin < budget / 2; i++) {
    double next = once(1);
    bool stable = next > 0.9 * last && next < 1.1 * last;
    last = next;
    if (i + 1 >= h.warm_ups && stable) break;
  }
  // so short a call is timed in batches: the clock itself takes about 25 ns
  u64 batch = repeatable && last < 1e-5 ? static_cast<u64>(1e-5 / (last + 1e-9)) + 1 : 1;
  double total = 0;
  u64 samples = 0, most = sizeof xp::record->sample / sizeof(double);
  if (h.maximum_samples < most) most = h.maximum_samples;
  while (samples < most && (samples < 5 || total < static_cast<double>(h.minimum_seconds_ns) * 1e-9)) {
    double seconds = once(batch);
    total += seconds * static_cast<double>(batch);
    xp::record->sample[samples++] = seconds;
    if (now() - begin > budget && samples >= 1) break;
  }
  if (xp::collect_results) xp::collect_results();
  xp::record->samples = samples;
  for (u64 i = 0; i < c.arguments; i++)
    if (arguments[i].is_buffer) memcpy(output + arguments[i].out_offset, call.pointers[i], arguments[i].bytes);
}

void child(const Header& h, const CaseHeader& c, bool timing) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  catch_faults();
  const Argument* arguments = reinterpret_cast<const Argument*>(input + c.first_argument);
  if (timing) time_case(h, c, arguments);
  else run_case(c, arguments);
  fflush(nullptr);
  if (__atomic_exchange_n(&xp::record->claimed, 1ul, __ATOMIC_SEQ_CST) == 0)
    __atomic_store_n(&xp::record->state, static_cast<unsigned long>(xp::state_done), __ATOMIC_SEQ_CST);
  _exit(0);
}

void note_ending(int status) {
  if (xp::record->state != xp::state_running) return;
  xp::record->status = xp::status_crash;
  if (WIFSIGNALED(status)) {
    const char* why = WTERMSIG(status) == SIGKILL ? " (out of memory?)" : WTERMSIG(status) == SIGXCPU ? " (CPU time)" : "";
    snprintf(xp::record->message, sizeof xp::record->message, "ended by signal %d%s", WTERMSIG(status), why);
  } else {
    snprintf(xp::record->message, sizeof xp::record->message, "the program ended itself with exit code %d", WEXITSTATUS(status));
  }
  xp::record->state = xp::state_failed;
}

}  // namespace

int main(int argc, char** argv) {
  size_t input_size = 0, output_size = 0;
  if (argc != 4) return 2;
  // the input is private and writable: an entry that takes a scalar by reference may change it
  input = map_file(argv[1], false, &input_size);
  output = map_file(argv[2], true, &output_size);
  if (!input || !output) return 2;
  const Header& h = *reinterpret_cast<const Header*>(input);
  if (h.magic != 0x31504958) return 2;
  xp::Options& o = xp::options;
  o.workers = h.workers;
  o.threads_per_block = h.limits[0];
  for (int i = 0; i < 3; i++) {
    o.block[i] = h.limits[1 + i];
    o.grid[i] = h.limits[4 + i];
  }
  o.shared_bytes = h.limits[7];
  o.shared_opt_in_bytes = h.limits[8];
  o.warp_size = h.limits[9];
  o.multiprocessors = h.limits[10];
  o.capability = h.limits[11];
  const CaseHeader* cases = reinterpret_cast<const CaseHeader*>(input + h.first_case);
  for (u64 i = 0; i < h.cases; i++) {
    xp::record = reinterpret_cast<xp::Record*>(output + cases[i].record_offset);
    xp::record->state = xp::state_running;
    fflush(nullptr);
    pid_t pid = fork();
    if (pid == 0) child(h, cases[i], strcmp(argv[3], "time") == 0);
    if (pid < 0) return 4;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    note_ending(status);
  }
  return 0;
}
