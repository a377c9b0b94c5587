// Arithmetic of HIP's vector types, lane by lane; a scalar operand stands for itself in every lane (HIP Programming Guide, "Short Vector Types").
// For parsing only: nothing here is linked; the bodies are read at every call.
#ifndef XPILER_XPILER_HIP_VECTORS_H
#define XPILER_XPILER_HIP_VECTORS_H
#include <vector_types.h>
#define XP_BINARY_1(T, B, op) \
  template <int = 0> inline T operator op(T a, T b) { return T{(B)(a.x op b.x)}; } \
  template <int = 0> inline T operator op(T a, B b) { return T{(B)(a.x op b)}; } \
  template <int = 0> inline T operator op(B a, T b) { return T{(B)(a op b.x)}; } \
  template <int = 0> inline T &operator op##=(T &a, T b) { a = a op b; return a; } \
  template <int = 0> inline T &operator op##=(T &a, B b) { a = a op b; return a; }
#define XP_OTHER_1(T, B) \
  template <int = 0> inline T operator-(T a) { return T{(B)(-a.x)}; } \
  template <int = 0> inline bool operator==(T a, T b) { return a.x == b.x; } \
  template <int = 0> inline bool operator!=(T a, T b) { return !(a.x == b.x); }
#define XP_BITS_1(T, B) \
  template <int = 0> inline T operator~(T a) { return T{(B)(~a.x)}; } \
  XP_BINARY_1(T, B, %) XP_BINARY_1(T, B, &) XP_BINARY_1(T, B, |) XP_BINARY_1(T, B, ^) XP_BINARY_1(T, B, <<) XP_BINARY_1(T, B, >>)
#define XP_FLOATS_1(T, B) XP_BINARY_1(T, B, +) XP_BINARY_1(T, B, -) XP_BINARY_1(T, B, *) XP_BINARY_1(T, B, /) XP_OTHER_1(T, B)
#define XP_INTS_1(T, B) XP_FLOATS_1(T, B) XP_BITS_1(T, B)
#define XP_BINARY_2(T, B, op) \
  template <int = 0> inline T operator op(T a, T b) { return T{(B)(a.x op b.x), (B)(a.y op b.y)}; } \
  template <int = 0> inline T operator op(T a, B b) { return T{(B)(a.x op b), (B)(a.y op b)}; } \
  template <int = 0> inline T operator op(B a, T b) { return T{(B)(a op b.x), (B)(a op b.y)}; } \
  template <int = 0> inline T &operator op##=(T &a, T b) { a = a op b; return a; } \
  template <int = 0> inline T &operator op##=(T &a, B b) { a = a op b; return a; }
#define XP_OTHER_2(T, B) \
  template <int = 0> inline T operator-(T a) { return T{(B)(-a.x), (B)(-a.y)}; } \
  template <int = 0> inline bool operator==(T a, T b) { return a.x == b.x && a.y == b.y; } \
  template <int = 0> inline bool operator!=(T a, T b) { return !(a.x == b.x && a.y == b.y); }
#define XP_BITS_2(T, B) \
  template <int = 0> inline T operator~(T a) { return T{(B)(~a.x), (B)(~a.y)}; } \
  XP_BINARY_2(T, B, %) XP_BINARY_2(T, B, &) XP_BINARY_2(T, B, |) XP_BINARY_2(T, B, ^) XP_BINARY_2(T, B, <<) XP_BINARY_2(T, B, >>)
#define XP_FLOATS_2(T, B) XP_BINARY_2(T, B, +) XP_BINARY_2(T, B, -) XP_BINARY_2(T, B, *) XP_BINARY_2(T, B, /) XP_OTHER_2(T, B)
#define XP_INTS_2(T, B) XP_FLOATS_2(T, B) XP_BITS_2(T, B)
#define XP_BINARY_3(T, B, op) \
  template <int = 0> inline T operator op(T a, T b) { return T{(B)(a.x op b.x), (B)(a.y op b.y), (B)(a.z op b.z)}; } \
  template <int = 0> inline T operator op(T a, B b) { return T{(B)(a.x op b), (B)(a.y op b), (B)(a.z op b)}; } \
  template <int = 0> inline T operator op(B a, T b) { return T{(B)(a op b.x), (B)(a op b.y), (B)(a op b.z)}; } \
  template <int = 0> inline T &operator op##=(T &a, T b) { a = a op b; return a; } \
  template <int = 0> inline T &operator op##=(T &a, B b) { a = a op b; return a; }
#define XP_OTHER_3(T, B) \
  template <int = 0> inline T operator-(T a) { return T{(B)(-a.x), (B)(-a.y), (B)(-a.z)}; } \
  template <int = 0> inline bool operator==(T a, T b) { return a.x == b.x && a.y == b.y && a.z == b.z; } \
  template <int = 0> inline bool operator!=(T a, T b) { return !(a.x == b.x && a.y == b.y && a.z == b.z); }
#define XP_BITS_3(T, B) \
  template <int = 0> inline T operator~(T a) { return T{(B)(~a.x), (B)(~a.y), (B)(~a.z)}; } \
  XP_BINARY_3(T, B, %) XP_BINARY_3(T, B, &) XP_BINARY_3(T, B, |) XP_BINARY_3(T, B, ^) XP_BINARY_3(T, B, <<) XP_BINARY_3(T, B, >>)
#define XP_FLOATS_3(T, B) XP_BINARY_3(T, B, +) XP_BINARY_3(T, B, -) XP_BINARY_3(T, B, *) XP_BINARY_3(T, B, /) XP_OTHER_3(T, B)
#define XP_INTS_3(T, B) XP_FLOATS_3(T, B) XP_BITS_3(T, B)
#define XP_BINARY_4(T, B, op) \
  template <int = 0> inline T operator op(T a, T b) { return T{(B)(a.x op b.x), (B)(a.y op b.y), (B)(a.z op b.z), (B)(a.w op b.w)}; } \
  template <int = 0> inline T operator op(T a, B b) { return T{(B)(a.x op b), (B)(a.y op b), (B)(a.z op b), (B)(a.w op b)}; } \
  template <int = 0> inline T operator op(B a, T b) { return T{(B)(a op b.x), (B)(a op b.y), (B)(a op b.z), (B)(a op b.w)}; } \
  template <int = 0> inline T &operator op##=(T &a, T b) { a = a op b; return a; } \
  template <int = 0> inline T &operator op##=(T &a, B b) { a = a op b; return a; }
#define XP_OTHER_4(T, B) \
  template <int = 0> inline T operator-(T a) { return T{(B)(-a.x), (B)(-a.y), (B)(-a.z), (B)(-a.w)}; } \
  template <int = 0> inline bool operator==(T a, T b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; } \
  template <int = 0> inline bool operator!=(T a, T b) { return !(a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w); }
#define XP_BITS_4(T, B) \
  template <int = 0> inline T operator~(T a) { return T{(B)(~a.x), (B)(~a.y), (B)(~a.z), (B)(~a.w)}; } \
  XP_BINARY_4(T, B, %) XP_BINARY_4(T, B, &) XP_BINARY_4(T, B, |) XP_BINARY_4(T, B, ^) XP_BINARY_4(T, B, <<) XP_BINARY_4(T, B, >>)
#define XP_FLOATS_4(T, B) XP_BINARY_4(T, B, +) XP_BINARY_4(T, B, -) XP_BINARY_4(T, B, *) XP_BINARY_4(T, B, /) XP_OTHER_4(T, B)
#define XP_INTS_4(T, B) XP_FLOATS_4(T, B) XP_BITS_4(T, B)
#pragma clang force_cuda_host_device begin
XP_INTS_1(char1, signed char) XP_INTS_2(char2, signed char) XP_INTS_3(char3, signed char) XP_INTS_4(char4, signed char)
XP_INTS_1(uchar1, unsigned char) XP_INTS_2(uchar2, unsigned char) XP_INTS_3(uchar3, unsigned char) XP_INTS_4(uchar4, unsigned char)
XP_INTS_1(short1, short) XP_INTS_2(short2, short) XP_INTS_3(short3, short) XP_INTS_4(short4, short)
XP_INTS_1(ushort1, unsigned short) XP_INTS_2(ushort2, unsigned short) XP_INTS_3(ushort3, unsigned short) XP_INTS_4(ushort4, unsigned short)
XP_INTS_1(int1, int) XP_INTS_2(int2, int) XP_INTS_3(int3, int) XP_INTS_4(int4, int)
XP_INTS_1(uint1, unsigned int) XP_INTS_2(uint2, unsigned int) XP_INTS_3(uint3, unsigned int) XP_INTS_4(uint4, unsigned int)
XP_INTS_1(long1, long) XP_INTS_2(long2, long) XP_INTS_3(long3, long) XP_INTS_4(long4, long)
XP_INTS_1(ulong1, unsigned long) XP_INTS_2(ulong2, unsigned long) XP_INTS_3(ulong3, unsigned long) XP_INTS_4(ulong4, unsigned long)
XP_INTS_1(longlong1, long long) XP_INTS_2(longlong2, long long) XP_INTS_3(longlong3, long long) XP_INTS_4(longlong4, long long)
XP_INTS_1(ulonglong1, unsigned long long) XP_INTS_2(ulonglong2, unsigned long long) XP_INTS_3(ulonglong3, unsigned long long) XP_INTS_4(ulonglong4, unsigned long long)
XP_FLOATS_1(float1, float) XP_FLOATS_2(float2, float) XP_FLOATS_3(float3, float) XP_FLOATS_4(float4, float)
XP_FLOATS_1(double1, double) XP_FLOATS_2(double2, double) XP_FLOATS_3(double3, double) XP_FLOATS_4(double4, double)
#pragma clang force_cuda_host_device end
#undef XP_BINARY_1
#undef XP_OTHER_1
#undef XP_BITS_1
#undef XP_FLOATS_1
#undef XP_INTS_1
#undef XP_BINARY_2
#undef XP_OTHER_2
#undef XP_BITS_2
#undef XP_FLOATS_2
#undef XP_INTS_2
#undef XP_BINARY_3
#undef XP_OTHER_3
#undef XP_BITS_3
#undef XP_FLOATS_3
#undef XP_INTS_3
#undef XP_BINARY_4
#undef XP_OTHER_4
#undef XP_BITS_4
#undef XP_FLOATS_4
#undef XP_INTS_4
#endif
