// Device functions that only HIP has. Sources: HIP Programming Guide, "Warp Cross-Lane Functions", "Coordinate Built-Ins"; AMD CDNA2 Instruction
// Set Architecture Reference Guide, DS_BPERMUTE_B32, DS_PERMUTE_B32, V_READFIRSTLANE_B32, V_READLANE_B32.
#pragma once
#include "simt.h"
#include "math.h"
#include "mfma.h"

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
static inline int xp_ds_swizzle(int value, int pattern, int line) {
  int lane = static_cast<int>(__lane_id()), from;
  if (pattern & 0x8000) {
    if (pattern & 0x7f00) xp::unsupported("this pattern of ds_swizzle", line);
    from = lane / 4 * 4 + ((pattern >> lane % 4 * 2) & 3);
  } else {
    int inside = lane % 32, keep = pattern & 31, set = pattern >> 5 & 31, flip = pattern >> 10 & 31;
    from = lane / 32 * 32 + (((inside & keep) | set) ^ flip);
  }
  return xp::together_value(xp::warp_shfl, value, from, XP_WARP_SIZE, line);
}
#define __builtin_amdgcn_ds_swizzle(value, pattern) xp_ds_swizzle(value, pattern, __LINE__)
// Data parallel primitives (DPP16): LLVM, "Syntax of AMDGPU Instruction Modifiers", dpp_ctrl; CDNA2 ISA, "Data Parallel Processing (DPP)".
static inline int xp_update_dpp(int old, int value, int control, int rows, int banks, bool zero, int line) {
  const int lane = static_cast<int>(__lane_id()), row = lane / 16, at = lane % 16, last = XP_WARP_SIZE - 1;
  const bool wide = XP_WARP_SIZE == 64;
  int from = -1;
  if (control >= 0 && control < 0x100) from = lane - lane % 4 + (control >> lane % 4 * 2) % 4;  // quad_perm
  else if (control > 0x100 && control < 0x110) from = at + (control - 0x100) > 15 ? -1 : lane + (control - 0x100);  // row_shl
  else if (control > 0x110 && control < 0x120) from = at - (control - 0x110) < 0 ? -1 : lane - (control - 0x110);  // row_shr
  else if (control > 0x120 && control < 0x130) from = row * 16 + (at + 16 - (control - 0x120)) % 16;  // row_ror
  else if (control == 0x130 && wide) from = lane == last ? -1 : lane + 1;  // wave_shl
  else if (control == 0x134 && wide) from = lane == last ? 0 : lane + 1;   // wave_rol
  else if (control == 0x138 && wide) from = lane == 0 ? -1 : lane - 1;     // wave_shr
  else if (control == 0x13c && wide) from = lane == 0 ? last : lane - 1;   // wave_ror
  else if (control == 0x140) from = row * 16 + 15 - at;                    // row_mirror
  else if (control == 0x141) from = lane / 8 * 8 + 7 - lane % 8;           // row_half_mirror
  else if (control == 0x142 && wide) from = row == 0 ? -1 : row * 16 - 1;  // row_bcast:15
  else if (control == 0x143 && wide) from = row < 2 ? -1 : 31;             // row_bcast:31
  else xp::unsupported("this DPP control", line);
  int moved = xp::together_value(xp::warp_shfl, value, from < 0 ? lane : from, XP_WARP_SIZE, line);
  bool enabled = (rows >> row & 1) && (banks >> at / 4 & 1);
  return !enabled ? old : from >= 0 ? moved : zero ? 0 : old;
}
#define __builtin_amdgcn_update_dpp(old, value, control, rows, banks, zero) xp_update_dpp(old, value, control, rows, banks, zero, __LINE__)
// the lanes that nothing is moved to are undefined
#define __builtin_amdgcn_mov_dpp(value, control, rows, banks, zero) xp_update_dpp(-1, value, control, rows, banks, zero, __LINE__)
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
