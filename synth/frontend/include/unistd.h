// <unistd.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_UNISTD_H
#define XPILER_UNISTD_H
#include <stddef.h>
XP_C_BEGIN
int usleep(unsigned microseconds);
unsigned sleep(unsigned seconds);
int getpid(void);
XP_C_END
#endif
