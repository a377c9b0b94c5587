// Mathematics of CUDA that the C library does not have: fast forms, integer intrinsics, conversions with a rounding mode, bit casts.
// Source: CUDA Math API Reference. A fast form computes what the accurate one does: a GPU's result differs in the last places.
#pragma once
#include <math.h>
#include <stdlib.h>

// The overloads of nvcc, in the global namespace; a mix of signed and unsigned is unsigned, as in C
#define XP_MIN_MAX(type) \
  static inline type min(type a, type b) { return b < a ? b : a; } \
  static inline type max(type a, type b) { return a < b ? b : a; }
XP_MIN_MAX(int) XP_MIN_MAX(unsigned) XP_MIN_MAX(long) XP_MIN_MAX(unsigned long) XP_MIN_MAX(long long) XP_MIN_MAX(unsigned long long)
#undef XP_MIN_MAX
#define XP_MIN_MAX_MIXED(type, a_type, b_type) \
  static inline type min(a_type a, b_type b) { return min(static_cast<type>(a), static_cast<type>(b)); } \
  static inline type max(a_type a, b_type b) { return max(static_cast<type>(a), static_cast<type>(b)); }
XP_MIN_MAX_MIXED(unsigned, int, unsigned) XP_MIN_MAX_MIXED(unsigned, unsigned, int)
XP_MIN_MAX_MIXED(unsigned long, long, unsigned long) XP_MIN_MAX_MIXED(unsigned long, unsigned long, long)
XP_MIN_MAX_MIXED(unsigned long long, long long, unsigned long long) XP_MIN_MAX_MIXED(unsigned long long, unsigned long long, long long)
#undef XP_MIN_MAX_MIXED
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
static inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
static inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }

// glibc declares exp10f only for GNU sources, and not everywhere
static inline float xp_exp10f(float x) { return powf(10.0f, x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline float sinpif(float x) { return static_cast<float>(sin(3.14159265358979323846 * static_cast<double>(x))); }
static inline float cospif(float x) { return static_cast<float>(cos(3.14159265358979323846 * static_cast<double>(x))); }
static inline double sinpi(double x) { return sin(3.14159265358979323846 * x); }
static inline double cospi(double x) { return cos(3.14159265358979323846 * x); }
static inline void sincospif(float x, float* s, float* c) { *s = sinpif(x); *c = cospif(x); }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
static inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
static inline float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
static inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
static inline float fdividef(float a, float b) { return a / b; }
static inline float fdivide(float a, float b) { return a / b; }

#define __expf xp_fast_expf
#define __exp10f xp_exp10f
#define __logf xp_fast_logf
#define __log2f xp_fast_log2f
#define __log10f xp_fast_log10f
#define __sinf xp_fast_sinf
#define __cosf xp_fast_cosf
#define __tanf xp_fast_tanf
#define __powf xp_fast_powf
#define __sincosf xp_fast_sincosf
static inline float xp_fast_expf(float x) { return expf(x); }
static inline float xp_fast_logf(float x) { return logf(x); }
static inline float xp_fast_log2f(float x) { return log2f(x); }
static inline float xp_fast_log10f(float x) { return log10f(x); }
static inline float xp_fast_sinf(float x) { return sinf(x); }
static inline float xp_fast_cosf(float x) { return cosf(x); }
static inline float xp_fast_tanf(float x) { return tanf(x); }
static inline float xp_fast_powf(float x, float y) { return powf(x, y); }
static inline void xp_fast_sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
#define __tanhf xp_fast_tanhf
static inline float xp_fast_tanhf(float x) { return tanhf(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __drcp_rn(double a) { return 1.0 / a; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// Bit casts
namespace xp {
template <class T, class F> inline T bit_cast(F from) {
  static_assert(sizeof(T) == sizeof(F), "sizes differ");
  T to;
  __builtin_memcpy(&to, &from, sizeof(T));
  return to;
}
// Conversion of a float to an integer saturates, and NaN gives 0, unlike in C
template <class I, class F> inline I to_int(F x) {
  constexpr bool is_signed = static_cast<I>(-1) < static_cast<I>(0);
  constexpr I low = is_signed ? static_cast<I>(static_cast<I>(1) << (sizeof(I) * 8 - 1)) : static_cast<I>(0), high = static_cast<I>(~low);
  if (x != x) return static_cast<I>(0);
  if (x >= static_cast<F>(high)) return high;
  if (x <= static_cast<F>(low)) return low;
  return static_cast<I>(x);
}
}  // namespace xp
static inline int __float_as_int(float x) { return xp::bit_cast<int>(x); }
static inline unsigned __float_as_uint(float x) { return xp::bit_cast<unsigned>(x); }
static inline float __int_as_float(int x) { return xp::bit_cast<float>(x); }
static inline float __uint_as_float(unsigned x) { return xp::bit_cast<float>(x); }
static inline long long __double_as_longlong(double x) { return xp::bit_cast<long long>(x); }
static inline double __longlong_as_double(long long x) { return xp::bit_cast<double>(x); }
static inline int __double2hiint(double x) { return static_cast<int>(xp::bit_cast<unsigned long>(x) >> 32); }
static inline int __double2loint(double x) { return static_cast<int>(xp::bit_cast<unsigned long>(x)); }
static inline double __hiloint2double(int hi, int lo) { return xp::bit_cast<double>(static_cast<unsigned long>(static_cast<unsigned>(hi)) << 32 | static_cast<unsigned>(lo)); }

#define XP_TO_INT(prefix, type, float_type, suffix)                                                              \
  static inline type __##prefix##_rn##suffix(float_type x) { return xp::to_int<type>(rint(x)); }               \
  static inline type __##prefix##_rz##suffix(float_type x) { return xp::to_int<type>(trunc(x)); }              \
  static inline type __##prefix##_ru##suffix(float_type x) { return xp::to_int<type>(ceil(x)); }               \
  static inline type __##prefix##_rd##suffix(float_type x) { return xp::to_int<type>(floor(x)); }
XP_TO_INT(float2int, int, float, ) XP_TO_INT(float2uint, unsigned, float, ) XP_TO_INT(float2ll, long long, float, ) XP_TO_INT(float2ull, unsigned long long, float, )
XP_TO_INT(double2int, int, double, ) XP_TO_INT(double2uint, unsigned, double, ) XP_TO_INT(double2ll, long long, double, ) XP_TO_INT(double2ull, unsigned long long, double, )
#undef XP_TO_INT
static inline float __int2float_rn(int x) { return static_cast<float>(x); }
static inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
static inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
static inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
static inline double __int2double_rn(int x) { return x; }
static inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
static inline float __double2float_rn(double x) { return static_cast<float>(x); }

// Integer intrinsics
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i);
  return r;
}
static inline int __mul24(int a, int b) { return static_cast<int>(static_cast<unsigned>(a << 8 >> 8) * static_cast<unsigned>(b << 8 >> 8)); }
static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
static inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long>(a) * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<unsigned long>(a) * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64); }
static inline unsigned __sad(int a, int b, unsigned c) { unsigned x = static_cast<unsigned>(a), y = static_cast<unsigned>(b); return (a < b ? y - x : x - y) + c; }
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
static inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long>(a) + b) >> 1); }
static inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long>(a) + b + 1) >> 1); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  unsigned long both = static_cast<unsigned long>(y) << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    unsigned selector = s >> (4 * i) & 0xfu, byte = static_cast<unsigned>(both >> (8 * (selector & 7u))) & 0xffu;
    if (selector & 8u) byte = byte & 0x80u ? 0xffu : 0;
    r |= byte << (8 * i);
  }
  return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? hi << n | lo >> (32 - n) : hi; }
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? lo >> n | hi << (32 - n) : lo; }
static inline int __dp4a(int a, int b, int c) {
  unsigned sum = static_cast<unsigned>(c);
  for (int i = 0; i < 32; i += 8) sum += static_cast<unsigned>(static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i));
  return static_cast<int>(sum);
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
  return c;
}
#if defined(__x86_64__)
static inline long long clock64() { return static_cast<long long>(__builtin_ia32_rdtsc()); }
#else
static inline long long clock64() { return 0; }
#endif
