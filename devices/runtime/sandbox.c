// Runs one command under limits and ends everything it started at the deadline. See devices/sandbox.py, its only user.
//
// usage: sandbox DEADLINE_MS CPU_S DATA_BYTES FILE_BYTES PROCESSES REPORT -- command...
// REPORT receives one line: "exit CODE SECONDS", "signal NUMBER SECONDS", "timeout 0 SECONDS" or "unstarted ERRNO 0".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void limit(int resource, const char* text) {
  struct rlimit value = {strtoull(text, NULL, 10), strtoull(text, NULL, 10)};
  struct rlimit had;
  if (getrlimit(resource, &had) == 0 && had.rlim_max != RLIM_INFINITY && value.rlim_cur > had.rlim_max) value = had;
  setrlimit(resource, &value);
}

// No sockets but local ones: a candidate has no business on the network. A kernel without seccomp leaves it open.
static void drop_network(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// As subreaper we inherit whatever left the process group with setsid: end those too, until none is left.
static void end_descendants(pid_t group) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  kill(-group, SIGKILL);
  for (int round = 0; round < 1000; round++) {
    FILE* children = fopen(path, "r");
    int pid, found = 0;
    while (children && fscanf(children, "%d", &pid) == 1) {
      kill(pid, SIGKILL);
      found = 1;
    }
    if (children) fclose(children);
    while (waitpid(-1, NULL, WNOHANG) > 0) found = 1;
    if (!found) return;
    usleep(500);
  }
}

static void report(const char* path, const char* what, int code, double seconds) {
  FILE* out = fopen(path, "w");
  if (!out) return;
  fprintf(out, "%s %d %.6f\n", what, code, seconds);
  fclose(out);
}

int main(int argc, char** argv) {
  if (argc < 9) return 2;
  const char* report_path = argv[6];
  double deadline = strtod(argv[1], NULL) * 1e-3;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, NULL);

  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return 2;
  double start = now();
  pid_t self = getpid(), child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(127);
    setsid();
    sigprocmask(SIG_UNBLOCK, &child_ended, NULL);
    limit(RLIMIT_CPU, argv[2]);
    limit(RLIMIT_DATA, argv[3]);
    limit(RLIMIT_FSIZE, argv[4]);
    limit(RLIMIT_NPROC, argv[5]);
    limit(RLIMIT_CORE, "0");
    drop_network();
    execvp(argv[8], argv + 8);
    int error = errno;
    if (write(failure[1], &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
  close(failure[1]);
  int error = 0;
  if (child < 0 || read(failure[0], &error, sizeof error) == sizeof error) {
    report(report_path, "unstarted", child < 0 ? errno : error, 0);
    return 0;
  }
  for (;;) {
    int status;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      double seconds = now() - start;
      end_descendants(child);
      if (WIFEXITED(status)) report(report_path, "exit", WEXITSTATUS(status), seconds);
      else report(report_path, "signal", WTERMSIG(status), seconds);
      return 0;
    }
    double left = start + deadline - now();
    if (left <= 0) break;
    struct timespec wait = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    sigtimedwait(&child_ended, NULL, &wait);
  }
  end_descendants(child);
  report(report_path, "timeout", 0, now() - start);
  return 0;
}
