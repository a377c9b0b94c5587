// Kernels, launches, shared memory, barriers, warp operations and atomics of SIMT dialects, as calls of the prebuilt runtime (../simt.cpp).
#pragma once
#include <stddef.h>

#include "types.h"

// Where a declaration runs is of no matter here. __shared__ declarations are rewritten (devices/gpu_text.py); one that a macro hides from the
// rewriter becomes a variable per OS thread, which runs one block at a time: right, but without bounds and poison.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#ifndef XP_LANE_MASK
#define XP_LANE_MASK unsigned int
#endif

namespace xp {

struct Config {
  dim3 grid, block;
  size_t shared;
  const char* kernel;
  int line;
};

void launch(const Config& config, void (*body)(void*), void* context);

struct Launcher {
  Config config;
  // Arguments are copied once at the launch, as a launch does; each thread gets its own copies.
  template <class F, class... A>
  void run(F f, A... arguments) const {
    auto body = [&] { f(arguments...); };
    launch(config, [](void* context) { (*static_cast<decltype(body)*>(context))(); }, &body);
  }
};

inline Launcher configure(const char* kernel, int line, dim3 grid, dim3 block, size_t shared = 0, const void* = nullptr) {
  return {{grid, block, shared, kernel, line}};
}

// One declaration of a __shared__ array; `index` is given by the runtime.
struct SharedSlot {
  const char* name;
  int index;
};
void* shared_array(SharedSlot* slot, size_t bytes, size_t alignment);
void* dynamic_shared(size_t alignment);

template <class T, size_t alignment = 1>
inline __attribute__((always_inline)) T& shared(SharedSlot& slot) {
  return *static_cast<T*>(shared_array(&slot, sizeof(T), alignment > alignof(T) ? alignment : alignof(T)));
}

// `extern __shared__` at file scope
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(dynamic_shared(alignof(T))); }
};

enum BarrierKind { barrier_plain, barrier_count, barrier_and, barrier_or };
int barrier(BarrierKind kind, int predicate, int line);

enum WarpOp {
  warp_shfl, warp_shfl_up, warp_shfl_down, warp_shfl_xor, warp_all, warp_any, warp_ballot, warp_sync, warp_match_any, warp_match_all,
  warp_add, warp_min_s, warp_max_s, warp_min_u, warp_max_u, warp_and, warp_or, warp_xor
};
struct WarpCall {
  WarpOp op;
  unsigned long mask, value, result;
  int argument, width, line;
  bool together;  // without a mask: `mask` has all bits, and the lanes that run the operation together take part
};
void warp(WarpCall* call);
unsigned long active_lanes();
bool in_kernel();
[[noreturn]] void unsupported(const char* what, int line);
bool opt_in_shared(unsigned long bytes);  // false: more than the device has

template <class T>
inline T warp_value(WarpOp op, unsigned long mask, T value, int argument, int width, int line, bool together = false) {
  static_assert(sizeof(T) <= 8, "a warp operation takes values of at most 8 bytes");
  WarpCall call{op, mask, 0, 0, argument, width, line, together};
  __builtin_memcpy(&call.value, &value, sizeof(T));
  warp(&call);
  __builtin_memcpy(static_cast<void*>(&value), &call.result, sizeof(T));
  return value;
}
template <class T>
inline T together_value(WarpOp op, T value, int argument, int width, int line) {
  return warp_value(op, ~0ul, value, argument, width, line, true);
}

}  // namespace xp

#define XP_LINE int xp_line = __builtin_LINE()

static inline void __syncthreads(XP_LINE) { xp::barrier(xp::barrier_plain, 0, xp_line); }
static inline int __syncthreads_count(int p, XP_LINE) { return xp::barrier(xp::barrier_count, p, xp_line); }
static inline int __syncthreads_and(int p, XP_LINE) { return xp::barrier(xp::barrier_and, p, xp_line); }
static inline int __syncthreads_or(int p, XP_LINE) { return xp::barrier(xp::barrier_or, p, xp_line); }
static inline void __syncwarp(XP_LANE_MASK mask = static_cast<XP_LANE_MASK>(~0ull), XP_LINE) { xp::warp_value(xp::warp_sync, mask, 0, 0, 0, xp_line); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() {}
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// With a mask: the lanes that it names. A mask has one bit a lane: 32 bits in CUDA, always 64 in HIP.
template <class T> inline T __shfl_sync(XP_LANE_MASK mask, T v, int lane, int width = warpSize, XP_LINE) { return xp::warp_value(xp::warp_shfl, mask, v, lane, width, xp_line); }
template <class T> inline T __shfl_up_sync(XP_LANE_MASK mask, T v, unsigned delta, int width = warpSize, XP_LINE) { return xp::warp_value(xp::warp_shfl_up, mask, v, static_cast<int>(delta), width, xp_line); }
template <class T> inline T __shfl_down_sync(XP_LANE_MASK mask, T v, unsigned delta, int width = warpSize, XP_LINE) { return xp::warp_value(xp::warp_shfl_down, mask, v, static_cast<int>(delta), width, xp_line); }
template <class T> inline T __shfl_xor_sync(XP_LANE_MASK mask, T v, int lanes, int width = warpSize, XP_LINE) { return xp::warp_value(xp::warp_shfl_xor, mask, v, lanes, width, xp_line); }
static inline int __all_sync(XP_LANE_MASK mask, int p, XP_LINE) { return xp::warp_value(xp::warp_all, mask, p != 0, 0, 0, xp_line); }
static inline int __any_sync(XP_LANE_MASK mask, int p, XP_LINE) { return xp::warp_value(xp::warp_any, mask, p != 0, 0, 0, xp_line); }
static inline XP_LANE_MASK __ballot_sync(XP_LANE_MASK mask, int p, XP_LINE) { return xp::warp_value(xp::warp_ballot, mask, static_cast<XP_LANE_MASK>(p != 0), 0, 0, xp_line); }

// Without a mask (CUDA before version 9, HIP): the lanes that run the operation together.
template <class T> inline T __shfl(T v, int lane, int width = warpSize, XP_LINE) { return xp::together_value(xp::warp_shfl, v, lane, width, xp_line); }
template <class T> inline T __shfl_up(T v, unsigned delta, int width = warpSize, XP_LINE) { return xp::together_value(xp::warp_shfl_up, v, static_cast<int>(delta), width, xp_line); }
template <class T> inline T __shfl_down(T v, unsigned delta, int width = warpSize, XP_LINE) { return xp::together_value(xp::warp_shfl_down, v, static_cast<int>(delta), width, xp_line); }
template <class T> inline T __shfl_xor(T v, int lanes, int width = warpSize, XP_LINE) { return xp::together_value(xp::warp_shfl_xor, v, lanes, width, xp_line); }
static inline int __all(int p, XP_LINE) { return xp::together_value(xp::warp_all, p != 0, 0, 0, xp_line); }
static inline int __any(int p, XP_LINE) { return xp::together_value(xp::warp_any, p != 0, 0, 0, xp_line); }
static inline XP_LANE_MASK __ballot(int p, XP_LINE) { return xp::together_value(xp::warp_ballot, static_cast<XP_LANE_MASK>(p != 0), 0, 0, xp_line); }

#ifdef XP_LOCKSTEP
static inline XP_LANE_MASK __activemask(XP_LINE) { return __ballot(1, xp_line); }
#else
static inline XP_LANE_MASK __activemask() { return static_cast<XP_LANE_MASK>(xp::active_lanes()); }
#endif
template <class T> inline XP_LANE_MASK __match_any_sync(XP_LANE_MASK mask, T v, XP_LINE) {
  unsigned long bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  return static_cast<XP_LANE_MASK>(xp::warp_value(xp::warp_match_any, mask, bits, 0, 0, xp_line));
}
template <class T> inline XP_LANE_MASK __match_all_sync(XP_LANE_MASK mask, T v, int* all, XP_LINE) {
  unsigned long bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  XP_LANE_MASK found = static_cast<XP_LANE_MASK>(xp::warp_value(xp::warp_match_all, mask, bits, 0, 0, xp_line));
  *all = found != 0;
  return found;
}
static inline unsigned __reduce_add_sync(XP_LANE_MASK mask, unsigned v, XP_LINE) { return xp::warp_value(xp::warp_add, mask, v, 0, 0, xp_line); }
static inline int __reduce_add_sync(XP_LANE_MASK mask, int v, XP_LINE) { return xp::warp_value(xp::warp_add, mask, v, 0, 0, xp_line); }
static inline unsigned __reduce_min_sync(XP_LANE_MASK mask, unsigned v, XP_LINE) { return xp::warp_value(xp::warp_min_u, mask, v, 0, 0, xp_line); }
static inline int __reduce_min_sync(XP_LANE_MASK mask, int v, XP_LINE) { return xp::warp_value(xp::warp_min_s, mask, v, 0, 0, xp_line); }
static inline unsigned __reduce_max_sync(XP_LANE_MASK mask, unsigned v, XP_LINE) { return xp::warp_value(xp::warp_max_u, mask, v, 0, 0, xp_line); }
static inline int __reduce_max_sync(XP_LANE_MASK mask, int v, XP_LINE) { return xp::warp_value(xp::warp_max_s, mask, v, 0, 0, xp_line); }
static inline unsigned __reduce_and_sync(XP_LANE_MASK mask, unsigned v, XP_LINE) { return xp::warp_value(xp::warp_and, mask, v, 0, 0, xp_line); }
static inline unsigned __reduce_or_sync(XP_LANE_MASK mask, unsigned v, XP_LINE) { return xp::warp_value(xp::warp_or, mask, v, 0, 0, xp_line); }
static inline unsigned __reduce_xor_sync(XP_LANE_MASK mask, unsigned v, XP_LINE) { return xp::warp_value(xp::warp_xor, mask, v, 0, 0, xp_line); }

// Atomics. Blocks run on several OS threads, so these are real ones.
namespace xp {
template <class T> struct Same { using type = T; };
template <class T> struct Bits;
template <> struct Bits<float> { using type = unsigned int; };
template <> struct Bits<double> { using type = unsigned long; };
template <class T, class F> inline T atomic_update(T* at, F next) {
  T old;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  for (;;) {
    T wanted = next(old);
    if (__atomic_compare_exchange(at, &old, &wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
  }
}
}  // namespace xp

template <class T> inline T atomicAdd(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return static_cast<T>(old + v); }); }
template <class T> inline T atomicSub(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return static_cast<T>(old - v); }); }
template <class T> inline T atomicMin(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return v < old ? v : old; }); }
template <class T> inline T atomicMax(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return v > old ? v : old; }); }
template <class T> inline T atomicExch(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T) { return v; }); }
template <class T> inline T atomicAnd(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return old & v; }); }
template <class T> inline T atomicOr(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return old | v; }); }
template <class T> inline T atomicXor(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return old ^ v; }); }
template <class T> inline T atomicInc(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return old >= v ? T(0) : T(old + 1); }); }
template <class T> inline T atomicDec(T* at, typename xp::Same<T>::type v) { return xp::atomic_update(at, [v](T old) { return old == 0 || old > v ? v : T(old - 1); }); }
template <class T> inline T atomicCAS(T* at, typename xp::Same<T>::type expected, typename xp::Same<T>::type v) {
  __atomic_compare_exchange(at, &expected, &v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
#define XP_ATOMIC_SCOPES(name)                                                                  \
  template <class T> inline T name##_block(T* at, typename xp::Same<T>::type v) { return name(at, v); } \
  template <class T> inline T name##_system(T* at, typename xp::Same<T>::type v) { return name(at, v); }
XP_ATOMIC_SCOPES(atomicAdd)
XP_ATOMIC_SCOPES(atomicMin)
XP_ATOMIC_SCOPES(atomicMax)
XP_ATOMIC_SCOPES(atomicExch)
#undef XP_ATOMIC_SCOPES

// Loads and stores with cache hints
#define XP_LOAD(name) template <class T> inline T name(const T* at) { return *at; }
XP_LOAD(__ldg) XP_LOAD(__ldca) XP_LOAD(__ldcg) XP_LOAD(__ldcs) XP_LOAD(__ldlu) XP_LOAD(__ldcv)
#undef XP_LOAD
#define XP_STORE(name) template <class T> inline void name(T* at, typename xp::Same<T>::type v) { *at = v; }
XP_STORE(__stcg) XP_STORE(__stcs) XP_STORE(__stwb) XP_STORE(__stwt)
#undef XP_STORE
