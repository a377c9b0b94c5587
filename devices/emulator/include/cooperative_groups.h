// Cooperative groups of CUDA: the block, tiles of a warp, and what kernels do with them. Source: CUDA C++ Programming Guide, "Cooperative Groups".
// A grid-wide barrier is not emulated: blocks run one after the other.
#pragma once
#include "xp/gpu_runtime.h"

namespace cooperative_groups {
namespace xp_detail {
inline unsigned rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned count() { return blockDim.x * blockDim.y * blockDim.z; }
}  // namespace xp_detail

struct thread_block {
  static void sync(XP_LINE) { ::xp::barrier(::xp::barrier_plain, 0, xp_line); }
  static unsigned size() { return xp_detail::count(); }
  static unsigned num_threads() { return xp_detail::count(); }
  static unsigned thread_rank() { return xp_detail::rank(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static dim3 dim_threads() { return group_dim(); }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned n, class Parent = thread_block>
struct thread_block_tile {
  static_assert(n >= 1 && n <= static_cast<unsigned>(XP_WARP_SIZE) && (n & (n - 1)) == 0, "a tile is a power of two up to the warp");
  static unsigned lane() { return xp_detail::rank() % static_cast<unsigned>(XP_WARP_SIZE); }
  static unsigned first() { return lane() / n * n; }
  static unsigned long mask() { return (n == 64 ? ~0ul : (1ul << n) - 1) << first(); }
  static unsigned size() { return n; }
  static unsigned num_threads() { return n; }
  static unsigned thread_rank() { return lane() % n; }
  static unsigned meta_group_rank() { return xp_detail::rank() / n; }
  static unsigned meta_group_size() { return (xp_detail::count() + n - 1) / n; }
  static void sync(XP_LINE) { ::xp::warp_value(::xp::warp_sync, mask(), 0, 0, 0, xp_line); }
  template <class T> static T shfl(T v, int from, XP_LINE) { return ::xp::warp_value(::xp::warp_shfl, mask(), v, from, n, xp_line); }
  template <class T> static T shfl_up(T v, unsigned delta, XP_LINE) { return ::xp::warp_value(::xp::warp_shfl_up, mask(), v, static_cast<int>(delta), n, xp_line); }
  template <class T> static T shfl_down(T v, unsigned delta, XP_LINE) { return ::xp::warp_value(::xp::warp_shfl_down, mask(), v, static_cast<int>(delta), n, xp_line); }
  template <class T> static T shfl_xor(T v, unsigned lanes, XP_LINE) { return ::xp::warp_value(::xp::warp_shfl_xor, mask(), v, static_cast<int>(lanes), n, xp_line); }
  static int any(int p, XP_LINE) { return ::xp::warp_value(::xp::warp_any, mask(), p != 0, 0, 0, xp_line); }
  static int all(int p, XP_LINE) { return ::xp::warp_value(::xp::warp_all, mask(), p != 0, 0, 0, xp_line); }
  static XP_LANE_MASK ballot(int p, XP_LINE) {
    return static_cast<XP_LANE_MASK>(::xp::warp_value(::xp::warp_ballot, mask(), static_cast<unsigned long>(p != 0), 0, 0, xp_line) >> first());
  }
};
template <unsigned n, class G> inline thread_block_tile<n, G> tiled_partition(const G&) { return {}; }
template <class G> inline void sync(const G& group, XP_LINE) { group.sync(xp_line); }

template <class T = void> struct plus { T operator()(const T& a, const T& b) const { return a + b; } };
template <class T = void> struct less { T operator()(const T& a, const T& b) const { return b < a ? b : a; } };
template <class T = void> struct greater { T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
// The order of a real device's reduction is not documented; this is the butterfly that shuffles make.
template <unsigned n, class P, class T, class F> inline T reduce(const thread_block_tile<n, P>& tile, T value, F op, XP_LINE) {
  for (unsigned distance = n / 2; distance > 0; distance /= 2) value = op(value, tile.shfl_xor(value, distance, xp_line));
  return value;
}
}  // namespace cooperative_groups
