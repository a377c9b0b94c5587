// Arithmetic of HIP's vector structures, lane by lane; a scalar stands in every lane (HIP Programming Guide, "Short Vector Types").
#pragma once
#include "types.h"

namespace xp {
template <class V> struct Lanes {};
#define XP_LANES(name, type)                                               \
  template <> struct Lanes<name##1> { using base = type; enum { count = 1 }; }; \
  template <> struct Lanes<name##2> { using base = type; enum { count = 2 }; }; \
  template <> struct Lanes<name##3> { using base = type; enum { count = 3 }; }; \
  template <> struct Lanes<name##4> { using base = type; enum { count = 4 }; };
XP_LANES(char, signed char) XP_LANES(uchar, unsigned char) XP_LANES(short, short) XP_LANES(ushort, unsigned short) XP_LANES(int, int)
XP_LANES(uint, unsigned int) XP_LANES(long, long) XP_LANES(ulong, unsigned long) XP_LANES(longlong, long long)
XP_LANES(ulonglong, unsigned long long) XP_LANES(float, float) XP_LANES(double, double)
#undef XP_LANES
template <class V> using Base = typename Lanes<V>::base;
template <class V> inline V all_lanes(Base<V> value) {
  V r;
  for (int i = 0; i < Lanes<V>::count; i++) (&r.x)[i] = value;
  return r;
}
}  // namespace xp

#define XP_OPERATOR(op)                                                                                                  \
  template <class V, class B = xp::Base<V>> inline V operator op(const V& a, const V& b) {                               \
    V r;                                                                                                                 \
    for (int i = 0; i < xp::Lanes<V>::count; i++) (&r.x)[i] = static_cast<B>((&a.x)[i] op (&b.x)[i]);                    \
    return r;                                                                                                            \
  }                                                                                                                      \
  template <class V> inline V operator op(const V& a, xp::Base<V> b) { return a op xp::all_lanes<V>(b); }                \
  template <class V> inline V operator op(xp::Base<V> a, const V& b) { return xp::all_lanes<V>(a) op b; }                \
  template <class V, class B = xp::Base<V>> inline V& operator op##=(V& a, const V& b) { return a = a op b; }            \
  template <class V> inline V& operator op##=(V& a, xp::Base<V> b) { return a = a op xp::all_lanes<V>(b); }
XP_OPERATOR(+) XP_OPERATOR(-) XP_OPERATOR(*) XP_OPERATOR(/) XP_OPERATOR(%) XP_OPERATOR(&) XP_OPERATOR(|) XP_OPERATOR(^) XP_OPERATOR(<<) XP_OPERATOR(>>)
#undef XP_OPERATOR
template <class V, class B = xp::Base<V>> inline V operator-(const V& a) { return xp::all_lanes<V>(B(0)) - a; }
template <class V, class B = xp::Base<V>> inline V operator~(const V& a) { return a ^ xp::all_lanes<V>(static_cast<B>(~B(0))); }
template <class V, class B = xp::Base<V>> inline bool operator==(const V& a, const V& b) {
  for (int i = 0; i < xp::Lanes<V>::count; i++) if (!((&a.x)[i] == (&b.x)[i])) return false;
  return true;
}
template <class V, class B = xp::Base<V>> inline bool operator!=(const V& a, const V& b) { return !(a == b); }
