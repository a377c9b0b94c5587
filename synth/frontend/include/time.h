// <time.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_TIME_H
#define XPILER_TIME_H

#include <stddef.h>
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
XP_C_BEGIN
time_t time(time_t *t);
XP_HD clock_t clock(void);
double difftime(time_t a, time_t b);
int clock_gettime(clockid_t id, struct timespec *t);
struct tm *localtime(const time_t *t);
XP_C_END
#ifdef __cplusplus
namespace std { using ::time; using ::clock; using ::time_t; using ::clock_t; }
#endif
#endif
