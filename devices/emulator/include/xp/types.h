// Vector types, dim3 and the index variables. Sources: CUDA C++ Programming Guide, "Built-in Vector Types", "Built-in Variables".
#pragma once
#include <stddef.h>

#define XP_VECTOR_TYPES(base, name, align2, align4)                                                                        \
  struct name##1 { base x; };                                                                                             \
  struct alignas(align2) name##2 { base x, y; };                                                                          \
  struct name##3 { base x, y, z; };                                                                                       \
  struct alignas(align4) name##4 { base x, y, z, w; };                                                                    \
  static inline name##1 make_##name##1(base x) { return {x}; }                                                            \
  static inline name##2 make_##name##2(base x, base y) { return {x, y}; }                                                 \
  static inline name##3 make_##name##3(base x, base y, base z) { return {x, y, z}; }                                      \
  static inline name##4 make_##name##4(base x, base y, base z, base w) { return {x, y, z, w}; }

XP_VECTOR_TYPES(signed char, char, 2, 4)
XP_VECTOR_TYPES(unsigned char, uchar, 2, 4)
XP_VECTOR_TYPES(short, short, 4, 8)
XP_VECTOR_TYPES(unsigned short, ushort, 4, 8)
XP_VECTOR_TYPES(int, int, 8, 16)
XP_VECTOR_TYPES(unsigned int, uint, 8, 16)
XP_VECTOR_TYPES(long, long, 16, 16)
XP_VECTOR_TYPES(unsigned long, ulong, 16, 16)
XP_VECTOR_TYPES(long long, longlong, 16, 16)
XP_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
XP_VECTOR_TYPES(float, float, 8, 16)
XP_VECTOR_TYPES(double, double, 16, 16)
#undef XP_VECTOR_TYPES

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

namespace xp {
// The same layout as dim3, but trivial, as a thread-local variable of an object file must be.
struct Dim3 {
  unsigned int x, y, z;
  operator dim3() const { return {x, y, z}; }
  operator uint3() const { return {x, y, z}; }
};
}  // namespace xp

// Variables, not macros: host code uses these names for its own. The runtime sets them when it switches threads.
extern __thread uint3 threadIdx, blockIdx;
extern __thread xp::Dim3 blockDim, gridDim;
static const int warpSize __attribute__((unused)) = XP_WARP_SIZE;
