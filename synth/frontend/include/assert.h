// <assert.h>: assertions are taken to hold; what a condition does besides is done. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_ASSERT_H
#define XPILER_ASSERT_H
#undef assert
#define assert(condition) ((void)(condition))
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
#endif
