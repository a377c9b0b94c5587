// Device functions that only HIP has. Sources: HIP Programming Guide, "Warp Cross-Lane Functions", "Coordinate Built-Ins"; AMD CDNA2 Instruction
// Set Architecture Reference Guide, DS_BPERMUTE_B32, DS_PERMUTE_B32, V_READFIRSTLANE_B32, V_READLANE_B32.
#pragma once
#include "simt.h"
#include "math.h"

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

static inline unsigned __lane_id() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % XP_WARP_SIZE; }
static inline unsigned long long __ballot64(int p, XP_LINE) { return __ballot(p, xp_line); }

// Atomic functions that may use other instructions, with the same result ("Atomic Functions").
template <class T> inline T unsafeAtomicAdd(T* at, typename xp::Same<T>::type v) { return atomicAdd(at, v); }
template <class T> inline void atomicAddNoRet(T* at, typename xp::Same<T>::type v) { atomicAdd(at, v); }

// The value of the lane that the byte address `address` names: four bytes a lane, wrapping around the wavefront.
static inline int xp_ds_bpermute(int address, int value, int line) {
  return xp::together_value(xp::warp_shfl, value, static_cast<int>(static_cast<unsigned>(address) / 4 % XP_WARP_SIZE), XP_WARP_SIZE, line);
}
#define __builtin_amdgcn_ds_bpermute(address, value) xp_ds_bpermute(address, value, __LINE__)
// The value of the first lane that takes part.
static inline int xp_readfirstlane(int value, int line) {
  unsigned long long together = xp::together_value(xp::warp_ballot, 1ull, 0, 0, line);
  return xp::together_value(xp::warp_shfl, value, __builtin_ctzll(together), XP_WARP_SIZE, line);
}
#define __builtin_amdgcn_readfirstlane(value) xp_readfirstlane(value, __LINE__)
static inline int xp_readlane(int value, int lane, int line) { return xp::together_value(xp::warp_shfl, value, lane, XP_WARP_SIZE, line); }
#define __builtin_amdgcn_readlane(value, lane) xp_readlane(value, lane, __LINE__)
#define __builtin_amdgcn_wavefrontsize() static_cast<unsigned>(XP_WARP_SIZE)
#define __builtin_amdgcn_s_barrier() __syncthreads()
// Lanes run in lock step: what a wavefront's barrier orders is ordered already, and the emulator makes it a meeting point.
#define __builtin_amdgcn_fence(order, scope) static_cast<void>(0)
#define __builtin_amdgcn_wave_barrier() xp::together_value(xp::warp_sync, 0, 0, 0, __LINE__)
#define __builtin_amdgcn_rcpf(x) (1.0f / (x))
#define __builtin_amdgcn_rsqf(x) (1.0f / sqrtf(x))
#define __builtin_amdgcn_sqrtf(x) sqrtf(x)
#define __builtin_amdgcn_exp2f(x) exp2f(x)
#define __builtin_amdgcn_logf(x) log2f(x)
#define __builtin_amdgcn_fmed3f(a, b, c) fmaxf(fminf(a, b), fminf(fmaxf(a, b), c))
#define __builtin_nontemporal_load(at) (*(at))
#define __builtin_nontemporal_store(value, at) static_cast<void>(*(at) = (value))
