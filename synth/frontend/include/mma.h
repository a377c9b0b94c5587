// Warp matrix functions (CUDA C++ Programming Guide, section "Warp Level Matrix Multiply-Accumulate (WMMA)"). What has a body here is read at
// every call; nothing is compiled or linked. Which lane holds which element is unspecified there, so that any map is a meaning: here lane `l`
// holds in x[e] element 32 * e + l of the matrix, row by row. Products reach the lanes by shuffles.
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
template <class Use, int m, int n, int k> struct shape_of;
template <int m, int n, int k> struct shape_of<matrix_a, m, n, k> { static const int rows = m, cols = k; };
template <int m, int n, int k> struct shape_of<matrix_b, m, n, k> { static const int rows = k, cols = n; };
template <int m, int n, int k> struct shape_of<accumulator, m, n, k> { static const int rows = m, cols = n; };
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
  static const int num_elements = shape_of<Use, m, n, k>::rows * shape_of<Use, m, n, k>::cols / 32;
  typename storage_of<T>::type x[shape_of<Use, m, n, k>::rows * shape_of<Use, m, n, k>::cols / 32];
};
inline int xpiler_lane() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }
template <class T> inline T xpiler_shfl(T value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
inline half xpiler_shfl(half value, int lane) { return __float2half(__shfl_sync(0xffffffffu, __half2float(value), lane)); }
inline int xpiler_shfl(signed char value, int lane) { return __shfl_sync(0xffffffffu, (int)value, lane); }
inline int xpiler_shfl(unsigned char value, int lane) { return __shfl_sync(0xffffffffu, (int)value, lane); }

template <class Use, int m, int n, int k, class T, class L, class V>
inline void fill_fragment(fragment<Use, m, n, k, T, L> &f, V value) {
  for (int e = 0; e < shape_of<Use, m, n, k>::rows * shape_of<Use, m, n, k>::cols / 32; ++e) f.x[e] = value;
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<matrix_a, m, n, k, T, row_major> &f, const T *from, unsigned int stride) {
  __syncwarp();
  for (int e = 0; e < m * k / 32; ++e) f.x[e] = from[(long)((e * 32 + xpiler_lane()) / k) * stride + (e * 32 + xpiler_lane()) % k];
  __syncwarp();
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<matrix_a, m, n, k, T, col_major> &f, const T *from, unsigned int stride) {
  __syncwarp();
  for (int e = 0; e < m * k / 32; ++e) f.x[e] = from[(long)((e * 32 + xpiler_lane()) % k) * stride + (e * 32 + xpiler_lane()) / k];
  __syncwarp();
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<matrix_b, m, n, k, T, row_major> &f, const T *from, unsigned int stride) {
  __syncwarp();
  for (int e = 0; e < n * k / 32; ++e) f.x[e] = from[(long)((e * 32 + xpiler_lane()) / n) * stride + (e * 32 + xpiler_lane()) % n];
  __syncwarp();
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<matrix_b, m, n, k, T, col_major> &f, const T *from, unsigned int stride) {
  __syncwarp();
  for (int e = 0; e < n * k / 32; ++e) f.x[e] = from[(long)((e * 32 + xpiler_lane()) % n) * stride + (e * 32 + xpiler_lane()) / n];
  __syncwarp();
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *from, unsigned int stride, layout_t layout) {
  __syncwarp();
  for (int e = 0; e < m * n / 32; ++e) {
    const int row = (e * 32 + xpiler_lane()) / n, col = (e * 32 + xpiler_lane()) % n;
    f.x[e] = layout == mem_row_major ? from[(long)row * stride + col] : from[(long)col * stride + row];
  }
  __syncwarp();
}
template <int m, int n, int k, class T>
inline void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T> &f, unsigned int stride, layout_t layout) {
  __syncwarp();
  for (int e = 0; e < m * n / 32; ++e) {
    const int row = (e * 32 + xpiler_lane()) / n, col = (e * 32 + xpiler_lane()) % n;
    to[layout == mem_row_major ? (long)row * stride + col : (long)col * stride + row] = f.x[e];
  }
  __syncwarp();
}
inline float xpiler_product(float a, float b, float c) { return a * b + c; }
// One kind of accumulator after another: the order of the sum is unspecified.
inline float xpiler_product(half a, half b, float c) { return __half2float(a) * __half2float(b) + c; }
inline int xpiler_product(int a, int b, int c) { return (int)((unsigned int)a * (unsigned int)b + (unsigned int)c); }
// With 16 columns everywhere, lane `l` has rows 2 * e + l / 16 of column l % 16: row i of its result is in x[e] of the same half of the warp, and
// row i of B is in x[i / 2] of the half i % 2. Other shapes are refused.
template <class T, class LA, class LB, class C>
inline void mma_sync(fragment<accumulator, 16, 16, 16, C> &d, const fragment<matrix_a, 16, 16, 16, T, LA> &a,
                     const fragment<matrix_b, 16, 16, 16, T, LB> &b, const fragment<accumulator, 16, 16, 16, C> &c) {
  const int lane = xpiler_lane();
  C sum[8];
  for (int e = 0; e < 8; ++e) sum[e] = c.x[e];
  for (int i = 0; i < 16; ++i) {
    const auto of_b = xpiler_shfl(b.x[i / 2], i % 2 * 16 + lane % 16);
    for (int e = 0; e < 8; ++e) sum[e] = xpiler_product(xpiler_shfl(a.x[e], lane / 16 * 16 + i), of_b, sum[e]);
  }
  for (int e = 0; e < 8; ++e) d.x[e] = sum[e];
}
float __float_to_tf32(float x);
}
}
#pragma clang force_cuda_host_device end
#endif
