// <stddef.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_STDDEF_H
#define XPILER_STDDEF_H

#include <xpiler/config.h>
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifdef __cplusplus
#define NULL __null
namespace std {
using ::size_t;
using ::ptrdiff_t;
using nullptr_t = decltype(nullptr);
typedef long double max_align_t;
enum class byte : unsigned char {};
}
using std::nullptr_t;
#else
#define NULL ((void *)0)
typedef __WCHAR_TYPE__ wchar_t;
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
