// <sys/types.h>: the glibc names that CUDA code takes for granted. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_SYS_TYPES_H
#define XPILER_SYS_TYPES_H
#include <stddef.h>
typedef unsigned char u_char;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long ssize_t;
typedef long off_t;
#endif
