// bfloat16 of CUDA: storage of 16 bits, arithmetic in float rounded once to bfloat16, as the hardware's instructions do.
// Source: CUDA Math API Reference, Bfloat16 Precision Intrinsics. Rounding is to nearest even.
#pragma once
#include "xp/gpu_runtime.h"

namespace xp {
inline unsigned short bf16_bits(float v) {
  unsigned bits = bit_cast<unsigned>(v);
  if (v != v) return static_cast<unsigned short>(bits >> 16 | 64);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
}  // namespace xp

// trivially constructible, as an array in shared memory must be
struct alignas(2) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
#define XP_FROM(type) __nv_bfloat16(type v) : bits(xp::bf16_bits(static_cast<float>(v))) {}
  XP_FROM(float) XP_FROM(double) XP_FROM(int) XP_FROM(unsigned) XP_FROM(long) XP_FROM(unsigned long) XP_FROM(long long) XP_FROM(unsigned long long)
  XP_FROM(short) XP_FROM(unsigned short)
#undef XP_FROM
  operator float() const { return xp::bit_cast<float>(static_cast<unsigned>(bits) << 16); }
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

namespace xp {
inline float f(__nv_bfloat16 v) { return static_cast<float>(v); }
inline __nv_bfloat16 bf(float v) { return __nv_bfloat16(v); }
}  // namespace xp

#define XP_BF16_OPERATOR(op)                                                                                         \
  static inline __nv_bfloat16 operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return xp::bf(xp::f(a) op xp::f(b)); }        \
  static inline __nv_bfloat16& operator op##=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = a op b; }                           \
  static inline __nv_bfloat162 operator op(const __nv_bfloat162& a, const __nv_bfloat162& b) { return {a.x op b.x, a.y op b.y}; }        \
  static inline __nv_bfloat162& operator op##=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = a op b; }
XP_BF16_OPERATOR(+) XP_BF16_OPERATOR(-) XP_BF16_OPERATOR(*) XP_BF16_OPERATOR(/)
#undef XP_BF16_OPERATOR
static inline __nv_bfloat16 operator-(const __nv_bfloat16& a) { return xp::bf(-xp::f(a)); }
static inline __nv_bfloat16 operator+(const __nv_bfloat16& a) { return a; }
static inline __nv_bfloat162 operator-(const __nv_bfloat162& a) { return {-a.x, -a.y}; }
#define XP_BF16_COMPARE(op) \
  static inline bool operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return xp::f(a) op xp::f(b); }
XP_BF16_COMPARE(<) XP_BF16_COMPARE(>) XP_BF16_COMPARE(<=) XP_BF16_COMPARE(>=) XP_BF16_COMPARE(==) XP_BF16_COMPARE(!=)
#undef XP_BF16_COMPARE

// Conversions
static inline __nv_bfloat16 __float2bfloat16(float a) { return xp::bf(a); }
static inline __nv_bfloat16 __float2bfloat16_rn(float a) { return xp::bf(a); }
static inline __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
static inline float __bfloat162float(__nv_bfloat16 a) { return xp::f(a); }
static inline __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16(a); }
static inline __nv_bfloat16 __uint2bfloat16_rn(unsigned a) { return __nv_bfloat16(a); }
static inline int __bfloat162int_rn(__nv_bfloat16 a) { return xp::to_int<int>(rintf(xp::f(a))); }
static inline int __bfloat162int_rz(__nv_bfloat16 a) { return xp::to_int<int>(truncf(xp::f(a))); }
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
static inline short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.bits); }
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { __nv_bfloat16 r; r.bits = static_cast<unsigned short>(a); return r; }
static inline __nv_bfloat16 __short_as_bfloat16(short a) { __nv_bfloat16 r; r.bits = static_cast<unsigned short>(a); return r; }
static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {xp::bf(a), xp::bf(b)}; }
static inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {xp::bf(a), xp::bf(a)}; }
static inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {xp::bf(a.x), xp::bf(a.y)}; }
static inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {xp::f(a.x), xp::f(a.y)}; }
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
static inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
static inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
static inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
static inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
static inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
static inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
static inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return {a.y, a.x}; }
static inline float __low2float(__nv_bfloat162 a) { return xp::f(a.x); }
static inline float __high2float(__nv_bfloat162 a) { return xp::f(a.y); }

// Arithmetic
#define XP_BF16_BINARY(name, name2, expression)                                                      \
  static inline __nv_bfloat16 name(__nv_bfloat16 a_, __nv_bfloat16 b_) { float a = xp::f(a_), b = xp::f(b_); return xp::bf(expression); } \
  static inline __nv_bfloat162 name2(__nv_bfloat162 a, __nv_bfloat162 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
XP_BF16_BINARY(__hadd, __hadd2, a + b) XP_BF16_BINARY(__hsub, __hsub2, a - b) XP_BF16_BINARY(__hmul, __hmul2, a * b) XP_BF16_BINARY(__hdiv, __h2div, a / b)
XP_BF16_BINARY(__hadd_rn, __hadd2_rn, a + b) XP_BF16_BINARY(__hmul_rn, __hmul2_rn, a * b) XP_BF16_BINARY(__hsub_rn, __hsub2_rn, a - b)
XP_BF16_BINARY(__hmax, __hmax2, fmaxf(a, b)) XP_BF16_BINARY(__hmin, __hmin2, fminf(a, b))
XP_BF16_BINARY(__hadd_sat, __hadd2_sat, __saturatef(a + b)) XP_BF16_BINARY(__hmul_sat, __hmul2_sat, __saturatef(a * b))
#undef XP_BF16_BINARY
// the product of two halves is exact in float; the double sum is rounded once more, to half, which is the one rounding of a fused operation
static inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __nv_bfloat16(static_cast<double>(xp::f(a)) * xp::f(b) + static_cast<double>(xp::f(c))); }
static inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
#define XP_BF16_UNARY(name, name2, expression)                                       \
  static inline __nv_bfloat16 name(__nv_bfloat16 a_) { float a = xp::f(a_); return xp::bf(expression); } \
  static inline __nv_bfloat162 name2(__nv_bfloat162 a) { return {name(a.x), name(a.y)}; }
XP_BF16_UNARY(__hneg, __hneg2, -a) XP_BF16_UNARY(__habs, __habs2, fabsf(a)) XP_BF16_UNARY(hexp, h2exp, expf(a)) XP_BF16_UNARY(hexp2, h2exp2, exp2f(a))
XP_BF16_UNARY(hlog, h2log, logf(a)) XP_BF16_UNARY(hlog2, h2log2, log2f(a)) XP_BF16_UNARY(hsqrt, h2sqrt, sqrtf(a)) XP_BF16_UNARY(hrsqrt, h2rsqrt, 1.0f / sqrtf(a))
XP_BF16_UNARY(hrcp, h2rcp, 1.0f / a) XP_BF16_UNARY(hsin, h2sin, sinf(a)) XP_BF16_UNARY(hcos, h2cos, cosf(a)) XP_BF16_UNARY(hfloor, h2floor, floorf(a))
XP_BF16_UNARY(hceil, h2ceil, ceilf(a)) XP_BF16_UNARY(htrunc, h2trunc, truncf(a)) XP_BF16_UNARY(hrint, h2rint, rintf(a)) XP_BF16_UNARY(htanh, h2tanh, tanhf(a))
#undef XP_BF16_UNARY
#define XP_BF16_TEST(name, op) static inline bool name(__nv_bfloat16 a, __nv_bfloat16 b) { return xp::f(a) op xp::f(b); }
XP_BF16_TEST(__heq, ==) XP_BF16_TEST(__hne, !=) XP_BF16_TEST(__hlt, <) XP_BF16_TEST(__hle, <=) XP_BF16_TEST(__hgt, >) XP_BF16_TEST(__hge, >=)
#undef XP_BF16_TEST
static inline bool __hisnan(__nv_bfloat16 a) { return xp::f(a) != xp::f(a); }
static inline int __hisinf(__nv_bfloat16 a) { return isinf(xp::f(a)) ? (xp::f(a) > 0 ? 1 : -1) : 0; }

static inline __nv_bfloat16 atomicAdd(__nv_bfloat16* at, __nv_bfloat16 v) {
  auto* bits = reinterpret_cast<unsigned short*>(at);
  return __ushort_as_bfloat16(xp::atomic_update(bits, [v](unsigned short old) { return __bfloat16_as_ushort(__ushort_as_bfloat16(old) + v); }));
}
