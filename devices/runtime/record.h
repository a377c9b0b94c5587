// What a run leaves for devices/harness.py: one record a case, in the shared output file.
#pragma once

namespace xp {

enum State { state_not_started = 0, state_running = 1, state_done = 2, state_failed = 3 };

struct Record {
  unsigned long state, status, claimed, samples;
  double seconds;
  char message[2008];
  double sample[4096 / 8 * 3 - 256];
};
static_assert(sizeof(Record) <= 16384);

extern Record* record;  // of the case that runs in this process

}  // namespace xp
