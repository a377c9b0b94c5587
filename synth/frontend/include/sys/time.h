// <sys/time.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_SYS_TIME_H
#define XPILER_SYS_TIME_H

#include <time.h>
struct timeval { time_t tv_sec; long tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
XP_C_BEGIN
int gettimeofday(struct timeval *t, void *zone);
XP_C_END
#endif
