// <errno.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_ERRNO_H
#define XPILER_ERRNO_H
extern int errno;
#endif
