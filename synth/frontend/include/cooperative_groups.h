// Cooperative groups of CUDA (Programming Guide, appendix Cooperative Groups). For parsing only: nothing here is compiled or linked.
#ifndef XPILER_COOPERATIVE_GROUPS_H
#define XPILER_COOPERATIVE_GROUPS_H
#include <xpiler/gpu_runtime.h>
#pragma clang force_cuda_host_device begin
namespace cooperative_groups {
class thread_group {
public:
  void sync() const;
  unsigned int size() const;
  unsigned int num_threads() const;
  unsigned int thread_rank() const;
};
class thread_block {
public:
  static void sync();
  static unsigned int size();
  static unsigned int num_threads();
  static unsigned int thread_rank();
  static dim3 group_index();
  static dim3 thread_index();
  static dim3 group_dim();
  static dim3 dim_threads();
};
class grid_group {
public:
  void sync() const;
  bool is_valid() const;
  unsigned long long size() const;
  unsigned long long thread_rank() const;
  dim3 group_dim() const;
};
class coalesced_group {
public:
  void sync() const;
  unsigned int meta_group_rank() const;
  unsigned int meta_group_size() const;
  template <class T> T shfl(T value, int rank) const;
  template <class T> T shfl_down(T value, unsigned int delta) const;
  template <class T> T shfl_up(T value, unsigned int delta) const;
  int any(int predicate) const;
  int all(int predicate) const;
  XP_LANE_MASK ballot(int predicate) const;
};
template <unsigned int n, class Parent = void> class thread_block_tile {
public:
  void sync() const;
  unsigned int size() const;
  unsigned int num_threads() const;
  unsigned int thread_rank() const;
  unsigned int meta_group_rank() const;
  unsigned int meta_group_size() const;
  template <class T> T shfl(T value, int rank) const;
  template <class T> T shfl_down(T value, unsigned int delta) const;
  template <class T> T shfl_up(T value, unsigned int delta) const;
  template <class T> T shfl_xor(T value, unsigned int mask) const;
  int any(int predicate) const;
  int all(int predicate) const;
  XP_LANE_MASK ballot(int predicate) const;
};
thread_block this_thread_block();
grid_group this_grid();
coalesced_group coalesced_threads();
template <unsigned int n, class G> thread_block_tile<n> tiled_partition(const G &group);
template <class G> thread_group tiled_partition(const G &group, unsigned int size);
template <class G> void sync(const G &group);
template <class T = void> struct plus { T operator()(const T &a, const T &b) const; };
template <class T = void> struct less { T operator()(const T &a, const T &b) const; };
template <class T = void> struct greater { T operator()(const T &a, const T &b) const; };
template <class G, class T, class F> T reduce(const G &group, T value, F op);
template <class G, class T> T inclusive_scan(const G &group, T value);
template <class G, class T> T exclusive_scan(const G &group, T value);
template <class G, class T> void memcpy_async(const G &group, T *to, const T *from, size_t bytes);
template <class G> void wait(const G &group);
}
#pragma clang force_cuda_host_device end
#endif
