// Clang's vector types (Clang Language Extensions, "Vectors and Extended Vectors"): lanes by index and by name, arithmetic lane by lane, and a
// scalar that stands in every lane. Declarations are rewritten to this template (devices/vector_text.py).
#pragma once
#include <initializer_list>
#include <stddef.h>

namespace xp {

constexpr size_t power_of_two(size_t lanes) { return lanes <= 1 ? 1 : 2 * power_of_two((lanes + 1) / 2); }

template <class T, size_t n> struct VectorLanes {
  T lane[n];
};
template <class T> struct VectorLanes<T, 2> {
  union { T lane[2]; struct { T x, y; }; struct { T r, g; }; };
};
template <class T> struct VectorLanes<T, 3> {
  union { T lane[3]; struct { T x, y, z; }; struct { T r, g, b; }; };
};
template <class T> struct VectorLanes<T, 4> {
  union { T lane[4]; struct { T x, y, z, w; }; struct { T r, g, b, a; }; };
};

template <class T, size_t n> struct alignas(sizeof(T) * power_of_two(n)) ExtVector : VectorLanes<T, n> {
  ExtVector() = default;
  ExtVector(T all) {
    for (size_t i = 0; i < n; i++) this->lane[i] = all;
  }
  // lanes that are not given are 0
  ExtVector(std::initializer_list<T> given) {
    size_t i = 0;
    for (T value : given) if (i < n) this->lane[i++] = value;
    while (i < n) this->lane[i++] = T(0);
  }
  T& operator[](size_t i) { return this->lane[i]; }
  const T& operator[](size_t i) const { return this->lane[i]; }
#define XP_OPERATOR(op)                                                                   \
  friend ExtVector operator op(const ExtVector& a, const ExtVector& b) {                  \
    ExtVector r;                                                                          \
    for (size_t i = 0; i < n; i++) r.lane[i] = static_cast<T>(a.lane[i] op b.lane[i]);    \
    return r;                                                                             \
  }                                                                                       \
  ExtVector& operator op##=(const ExtVector& b) { return *this = *this op b; }
  XP_OPERATOR(+) XP_OPERATOR(-) XP_OPERATOR(*) XP_OPERATOR(/) XP_OPERATOR(%) XP_OPERATOR(&) XP_OPERATOR(|) XP_OPERATOR(^) XP_OPERATOR(<<) XP_OPERATOR(>>)
#undef XP_OPERATOR
  friend ExtVector operator-(const ExtVector& a) {
    ExtVector r;
    for (size_t i = 0; i < n; i++) r.lane[i] = static_cast<T>(-a.lane[i]);
    return r;
  }
  friend ExtVector operator~(const ExtVector& a) {
    ExtVector r;
    for (size_t i = 0; i < n; i++) r.lane[i] = static_cast<T>(~a.lane[i]);
    return r;
  }
};

}  // namespace xp
