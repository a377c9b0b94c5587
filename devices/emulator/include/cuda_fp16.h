// Half precision of CUDA: storage of 16 bits, arithmetic in float rounded once to half, as the hardware's instructions do.
// Source: CUDA Math API Reference, Half Precision Intrinsics. Rounding is to nearest even.
#pragma once
#include "xp/gpu_runtime.h"

// trivially constructible, as an array in shared memory must be
struct alignas(2) __half {
  _Float16 value;
  __half() = default;
  __half(_Float16 v) : value(v) {}
  __half(float v) : value(static_cast<_Float16>(v)) {}
  __half(double v) : value(static_cast<_Float16>(v)) {}
  __half(int v) : value(static_cast<_Float16>(v)) {}
  __half(unsigned v) : value(static_cast<_Float16>(v)) {}
  __half(long v) : value(static_cast<_Float16>(v)) {}
  __half(unsigned long v) : value(static_cast<_Float16>(v)) {}
  __half(long long v) : value(static_cast<_Float16>(v)) {}
  __half(unsigned long long v) : value(static_cast<_Float16>(v)) {}
  __half(short v) : value(static_cast<_Float16>(v)) {}
  __half(unsigned short v) : value(static_cast<_Float16>(v)) {}
  operator float() const { return static_cast<float>(value); }
};
struct alignas(4) __half2 {
  __half x, y;
};
typedef __half half;
typedef __half2 half2;
typedef unsigned short __half_raw_bits;

namespace xp {
inline float f(__half h) { return static_cast<float>(h.value); }
inline __half h(float v) { return __half(v); }
}  // namespace xp

#define XP_HALF_OPERATOR(op)                                                                                         \
  static inline __half operator op(const __half& a, const __half& b) { return xp::h(xp::f(a) op xp::f(b)); }        \
  static inline __half& operator op##=(__half& a, const __half& b) { return a = a op b; }                           \
  static inline __half2 operator op(const __half2& a, const __half2& b) { return {a.x op b.x, a.y op b.y}; }        \
  static inline __half2& operator op##=(__half2& a, const __half2& b) { return a = a op b; }
XP_HALF_OPERATOR(+) XP_HALF_OPERATOR(-) XP_HALF_OPERATOR(*) XP_HALF_OPERATOR(/)
#undef XP_HALF_OPERATOR
static inline __half operator-(const __half& a) { return xp::h(-xp::f(a)); }
static inline __half operator+(const __half& a) { return a; }
static inline __half2 operator-(const __half2& a) { return {-a.x, -a.y}; }
#define XP_HALF_COMPARE(op) \
  static inline bool operator op(const __half& a, const __half& b) { return xp::f(a) op xp::f(b); }
XP_HALF_COMPARE(<) XP_HALF_COMPARE(>) XP_HALF_COMPARE(<=) XP_HALF_COMPARE(>=) XP_HALF_COMPARE(==) XP_HALF_COMPARE(!=)
#undef XP_HALF_COMPARE

// Conversions
static inline __half __float2half(float a) { return xp::h(a); }
static inline __half __float2half_rn(float a) { return xp::h(a); }
static inline __half __double2half(double a) { return __half(a); }
static inline float __half2float(__half a) { return xp::f(a); }
static inline __half __int2half_rn(int a) { return __half(a); }
static inline __half __uint2half_rn(unsigned a) { return __half(a); }
static inline int __half2int_rn(__half a) { return xp::to_int<int>(rintf(xp::f(a))); }
static inline int __half2int_rz(__half a) { return xp::to_int<int>(truncf(xp::f(a))); }
static inline unsigned short __half_as_ushort(__half a) { return xp::bit_cast<unsigned short>(a.value); }
static inline short __half_as_short(__half a) { return xp::bit_cast<short>(a.value); }
static inline __half __ushort_as_half(unsigned short a) { return __half(xp::bit_cast<_Float16>(a)); }
static inline __half __short_as_half(short a) { return __half(xp::bit_cast<_Float16>(a)); }
static inline __half2 __floats2half2_rn(float a, float b) { return {xp::h(a), xp::h(b)}; }
static inline __half2 __float2half2_rn(float a) { return {xp::h(a), xp::h(a)}; }
static inline __half2 __float22half2_rn(float2 a) { return {xp::h(a.x), xp::h(a.y)}; }
static inline float2 __half22float2(__half2 a) { return {xp::f(a.x), xp::f(a.y)}; }
static inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
static inline __half2 __half2half2(__half a) { return {a, a}; }
static inline __half2 make_half2(__half a, __half b) { return {a, b}; }
static inline __half __low2half(__half2 a) { return a.x; }
static inline __half __high2half(__half2 a) { return a.y; }
static inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
static inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
static inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
static inline float __low2float(__half2 a) { return xp::f(a.x); }
static inline float __high2float(__half2 a) { return xp::f(a.y); }

// Arithmetic
#define XP_HALF_BINARY(name, name2, expression)                                                      \
  static inline __half name(__half a_, __half b_) { float a = xp::f(a_), b = xp::f(b_); return xp::h(expression); } \
  static inline __half2 name2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
XP_HALF_BINARY(__hadd, __hadd2, a + b) XP_HALF_BINARY(__hsub, __hsub2, a - b) XP_HALF_BINARY(__hmul, __hmul2, a * b) XP_HALF_BINARY(__hdiv, __h2div, a / b)
XP_HALF_BINARY(__hadd_rn, __hadd2_rn, a + b) XP_HALF_BINARY(__hmul_rn, __hmul2_rn, a * b) XP_HALF_BINARY(__hsub_rn, __hsub2_rn, a - b)
XP_HALF_BINARY(__hmax, __hmax2, fmaxf(a, b)) XP_HALF_BINARY(__hmin, __hmin2, fminf(a, b))
XP_HALF_BINARY(__hadd_sat, __hadd2_sat, __saturatef(a + b)) XP_HALF_BINARY(__hmul_sat, __hmul2_sat, __saturatef(a * b))
#undef XP_HALF_BINARY
// the product of two halves is exact in float; the double sum is rounded once more, to half, which is the one rounding of a fused operation
static inline __half __hfma(__half a, __half b, __half c) { return __half(static_cast<double>(xp::f(a)) * xp::f(b) + static_cast<double>(xp::f(c))); }
static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
#define XP_HALF_UNARY(name, name2, expression)                                       \
  static inline __half name(__half a_) { float a = xp::f(a_); return xp::h(expression); } \
  static inline __half2 name2(__half2 a) { return {name(a.x), name(a.y)}; }
XP_HALF_UNARY(__hneg, __hneg2, -a) XP_HALF_UNARY(__habs, __habs2, fabsf(a)) XP_HALF_UNARY(hexp, h2exp, expf(a)) XP_HALF_UNARY(hexp2, h2exp2, exp2f(a))
XP_HALF_UNARY(hlog, h2log, logf(a)) XP_HALF_UNARY(hlog2, h2log2, log2f(a)) XP_HALF_UNARY(hsqrt, h2sqrt, sqrtf(a)) XP_HALF_UNARY(hrsqrt, h2rsqrt, 1.0f / sqrtf(a))
XP_HALF_UNARY(hrcp, h2rcp, 1.0f / a) XP_HALF_UNARY(hsin, h2sin, sinf(a)) XP_HALF_UNARY(hcos, h2cos, cosf(a)) XP_HALF_UNARY(hfloor, h2floor, floorf(a))
XP_HALF_UNARY(hceil, h2ceil, ceilf(a)) XP_HALF_UNARY(htrunc, h2trunc, truncf(a)) XP_HALF_UNARY(hrint, h2rint, rintf(a)) XP_HALF_UNARY(htanh, h2tanh, tanhf(a))
#undef XP_HALF_UNARY
#define XP_HALF_TEST(name, op) static inline bool name(__half a, __half b) { return xp::f(a) op xp::f(b); }
XP_HALF_TEST(__heq, ==) XP_HALF_TEST(__hne, !=) XP_HALF_TEST(__hlt, <) XP_HALF_TEST(__hle, <=) XP_HALF_TEST(__hgt, >) XP_HALF_TEST(__hge, >=)
#undef XP_HALF_TEST
static inline bool __hisnan(__half a) { return xp::f(a) != xp::f(a); }
static inline int __hisinf(__half a) { return isinf(xp::f(a)) ? (xp::f(a) > 0 ? 1 : -1) : 0; }

static inline __half atomicAdd(__half* at, __half v) {
  auto* bits = reinterpret_cast<unsigned short*>(at);
  return __ushort_as_half(xp::atomic_update(bits, [v](unsigned short old) { return __half_as_ushort(__ushort_as_half(old) + v); }));
}
