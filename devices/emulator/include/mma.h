// Warp matrix functions of CUDA. Source: CUDA C++ Programming Guide, "Warp Level Matrix Multiply-Accumulate (WMMA)".
// Which lane holds which element is unspecified there, and here it is an arbitrary map that differs between the kinds of fragments, so that a
// program that relies on one fails. A fragment is an operation of the whole warp: addresses and strides must be the same in all lanes.
#pragma once
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
}
enum layout_t { mem_row_major, mem_col_major };

namespace xp_detail {
template <class T> struct Storage { using type = T; };
template <> struct Storage<precision::tf32> { using type = float; };

// rows and columns that a kind of fragment has
template <class Use, int m, int n, int k> struct Shape;
template <int m, int n, int k> struct Shape<matrix_a, m, n, k> { static constexpr int rows = m, cols = k, kind = 1; };
template <int m, int n, int k> struct Shape<matrix_b, m, n, k> { static constexpr int rows = k, cols = n, kind = 2; };
template <int m, int n, int k> struct Shape<accumulator, m, n, k> { static constexpr int rows = m, cols = n, kind = 3; };

// "Element Types and Matrix Sizes": the multiplicands, the accumulator and the sizes that go together
template <class T, class U> constexpr bool same = false;
template <class T> constexpr bool same<T, T> = true;
template <class A, class C, int m, int n, int k> struct Supported {
  static constexpr bool by16 = (m == 16 && n == 16 && k == 16) || (m == 32 && n == 8 && k == 16) || (m == 8 && n == 32 && k == 16);
  static constexpr bool value = (by16 && same<A, half> && (same<C, half> || same<C, float>)) ||
                                (by16 && (same<A, signed char> || same<A, unsigned char>) && same<C, int>) ||
                                (m == 16 && n == 16 && k == 8 && same<A, precision::tf32> && same<C, float>) ||
                                (m == 8 && n == 8 && k == 4 && same<A, double> && same<C, double>);
};

inline int lane() { return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32); }
inline void meet(int line) { xp::warp_value(xp::warp_sync, 0xffffffffu, 0, 0, 0, line); }
template <class T> inline T of_first(T value, int line) { return xp::warp_value(xp::warp_shfl, 0xffffffffu, value, 0, 32, line); }
// The number, row by row, of the element that a lane holds in x[e].
inline int position(int kind, int e, int lane) { return e * 32 + (lane * 11 + e * (2 * kind + 1)) % 32; }

template <class T> inline double real(T v) { return static_cast<double>(v); }
inline double real(half v) { return static_cast<double>(xp::f(v)); }
inline float to_tf32(float x) {  // 10 bits of mantissa, to nearest, ties away from zero (PTX, cvt.rna.tf32.f32)
  unsigned bits = xp::bit_cast<unsigned>(x);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0x1000u;
  return xp::bit_cast<float>(bits & 0xffffe000u);
}
// What the multiplier sees of a stored element: of tf32 the low bits are not looked at.
template <class T, class S> struct Seen { static S of(S v) { return v; } };
template <> struct Seen<precision::tf32, float> { static float of(float v) { return xp::bit_cast<float>(xp::bit_cast<unsigned>(v) & 0xffffe000u); } };

// The real sum of products, rounded once; integers modulo 2^32 or saturated.
template <class C> struct Sum {
  template <class A, class B> static C of(const A* a, const B* b, int stride, int k, C c, bool) {
    double sum = real(c);
    for (int i = 0; i < k; ++i) sum += real(a[i]) * real(b[i * stride]);
    return C(sum);
  }
};
template <> struct Sum<int> {
  template <class A, class B> static int of(const A* a, const B* b, int stride, int k, int c, bool saturate) {
    long sum = c;
    for (int i = 0; i < k; ++i) sum += static_cast<long>(a[i]) * static_cast<long>(b[i * stride]);
    if (saturate) return sum > 2147483647l ? 2147483647 : sum < -2147483647l - 1 ? -2147483647 - 1 : static_cast<int>(sum);
    return static_cast<int>(static_cast<unsigned>(static_cast<unsigned long>(sum)));
  }
};
}  // namespace xp_detail

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  using shape = xp_detail::Shape<Use, m, n, k>;
  using storage_element_type = typename xp_detail::Storage<T>::type;
  using element_type = T;
  static constexpr int num_elements = shape::rows * shape::cols / 32;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

namespace xp_detail {
template <class F> inline int position_in(int e) { return position(F::shape::kind, e, lane()); }
template <class F, class T> inline void check(const T* at, unsigned stride, int line) {
  if (of_first(reinterpret_cast<unsigned long>(at), line) != reinterpret_cast<unsigned long>(at)) xp::unsupported("a matrix whose address differs between the lanes of a warp", line);
  if (of_first(stride, line) != stride) xp::unsupported("a leading dimension that differs between the lanes of a warp", line);
  if (stride * sizeof(T) % 16) xp::unsupported("a leading dimension that is no multiple of 16 bytes", line);
}
template <class F, class T> inline void load(F& f, const T* from, unsigned stride, bool by_rows, int line) {
  check<F>(from, stride, line);
  for (int e = 0; e < F::num_elements; ++e) {
    int p = position_in<F>(e), row = p / F::shape::cols, col = p % F::shape::cols;
    f.x[e] = by_rows ? from[static_cast<unsigned long>(row) * stride + col] : from[static_cast<unsigned long>(col) * stride + row];
  }
  meet(line);
}
// All elements of a fragment in `whole`, which one lane owns and all lanes see.
template <class F> inline void gather(const F& f, typename F::storage_element_type* whole) {
  for (int e = 0; e < F::num_elements; ++e) whole[position_in<F>(e)] = Seen<typename F::element_type, typename F::storage_element_type>::of(f.x[e]);
}
template <class Layout> struct ByRows;
template <> struct ByRows<row_major> { static constexpr bool value = true; };
template <> struct ByRows<col_major> { static constexpr bool value = false; };
}  // namespace xp_detail

template <class Use, int m, int n, int k, class T, class L>
inline void fill_fragment(fragment<Use, m, n, k, T, L>& f, const typename xp::Same<typename xp_detail::Storage<T>::type>::type& value, XP_LINE) {
  for (int e = 0; e < f.num_elements; ++e) f.x[e] = value;
  xp_detail::meet(xp_line);
}
template <class Use, int m, int n, int k, class T, class L>
inline void load_matrix_sync(fragment<Use, m, n, k, T, L>& f, const typename xp_detail::Storage<T>::type* from, unsigned stride, XP_LINE) {
  xp_detail::load(f, from, stride, xp_detail::ByRows<L>::value, xp_line);
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned stride, layout_t layout, XP_LINE) {
  xp_detail::load(f, from, stride, layout == mem_row_major, xp_line);
}
template <int m, int n, int k, class T>
inline void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride, layout_t layout, XP_LINE) {
  using F = fragment<accumulator, m, n, k, T>;
  xp_detail::check<F>(to, stride, xp_line);
  for (int e = 0; e < F::num_elements; ++e) {
    int p = xp_detail::position_in<F>(e), row = p / n, col = p % n;
    to[layout == mem_row_major ? static_cast<unsigned long>(row) * stride + col : static_cast<unsigned long>(col) * stride + row] = f.x[e];
  }
  xp_detail::meet(xp_line);
}
template <int m, int n, int k, class T, class LA, class LB, class C, class D>
inline void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LA>& a, const fragment<matrix_b, m, n, k, T, LB>& b,
                     const fragment<accumulator, m, n, k, C>& c, bool saturate = false, XP_LINE) {
  static_assert(xp_detail::Supported<T, C, m, n, k>::value && xp_detail::Supported<T, D, m, n, k>::value, "no such matrix multiplication");
  struct Stage {
    typename xp_detail::Storage<T>::type a[m * k], b[k * n];
  } mine;
  // the first lane's copy is everybody's: the lanes of a block share an address space
  auto* whole = reinterpret_cast<Stage*>(xp_detail::of_first(reinterpret_cast<unsigned long>(&mine), xp_line));
  xp_detail::gather(a, whole->a);
  xp_detail::gather(b, whole->b);
  xp_detail::meet(xp_line);
  for (int e = 0; e < d.num_elements; ++e) {
    int p = xp_detail::position(3, e, xp_detail::lane()), row = p / n, col = p % n;
    d.x[e] = xp_detail::Sum<D>::of(whole->a + row * k, whole->b + col, n, k, D(c.x[e]), saturate);
  }
  xp_detail::meet(xp_line);
}
static inline float __float_to_tf32(float x) { return xp_detail::to_tf32(x); }
}  // namespace wmma
}  // namespace nvcuda
