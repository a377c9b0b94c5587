// <stdbool.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_STDBOOL_H
#define XPILER_STDBOOL_H
#ifndef __cplusplus
#define bool _Bool
#define true 1
#define false 0
#endif
#endif
