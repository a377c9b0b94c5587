// <assert.h>: assertions are compiled out, as with NDEBUG. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_ASSERT_H
#define XPILER_ASSERT_H
#undef assert
#define assert(condition) ((void)0)
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
#endif
