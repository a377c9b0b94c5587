// Warp matrix functions (Programming Guide, section Warp Matrix Functions). For parsing only: nothing here is compiled or linked.
#ifndef XPILER_MMA_H
#define XPILER_MMA_H
#include <cuda_fp16.h>
#pragma clang force_cuda_host_device begin
namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision { struct tf32 {}; struct u4 {}; struct s4 {}; }
enum layout_t { mem_row_major, mem_col_major };
template <class T> struct storage_of { typedef T type; };
template <> struct storage_of<precision::tf32> { typedef float type; };
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
  static const int num_elements = 8;
  typename storage_of<T>::type x[num_elements];
};
template <class F, class T> void fill_fragment(F &fragment, const T &value);
template <class F, class T> void load_matrix_sync(F &fragment, const T *from, unsigned int stride);
template <class F, class T> void load_matrix_sync(F &fragment, const T *from, unsigned int stride, layout_t layout);
template <class F, class T> void store_matrix_sync(T *to, const F &fragment, unsigned int stride, layout_t layout);
template <class D, class A, class B, class C> void mma_sync(D &d, const A &a, const B &b, const C &c);
float __float_to_tf32(float x);
}
}
#pragma clang force_cuda_host_device end
#endif
