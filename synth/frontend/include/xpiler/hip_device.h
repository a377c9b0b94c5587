// Device functions of HIP: masks of lanes have 64 bits. Sources: HIP Programming Guide, "Warp Cross-Lane Functions", "Coordinate Built-Ins";
// AMD CDNA2 Instruction Set Architecture Reference Guide; LLVM, "User Guide for AMDGPU Backend". For parsing only: nothing here is linked; what
// has a body here is read at every call.
#ifndef XPILER_XPILER_HIP_DEVICE_H
#define XPILER_XPILER_HIP_DEVICE_H
#define XP_LANE_MASK unsigned long long
#include <xpiler/gpu_device.h>
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
#pragma clang force_cuda_host_device begin
inline unsigned int __lane_id() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize; }
inline unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
float unsafeAtomicAdd(float *p, float value);
double unsafeAtomicAdd(double *p, double value);
float atomicMin(float *p, float value);
double atomicMin(double *p, double value);
float atomicMax(float *p, float value);
double atomicMax(double *p, double value);
inline void atomicAddNoRet(float *p, float value) { atomicAdd(p, value); }
// the builtins that are other functions under another name
inline int xpiler_ds_bpermute(int address, int value) { return __shfl(value, (address >> 2) & (warpSize - 1)); }
inline int xpiler_readlane(int value, int lane) { return __shfl(value, lane & (warpSize - 1)); }
int xpiler_readfirstlane(int value);
// refuse what has no meaning below, at the user's line
void xpiler_check_swizzle(int pattern);
void xpiler_check_dpp(int control);
void xpiler_check_mfma(int modes);
// DS_SWIZZLE_B32 in its two modes without rotation: permutations of quads (bit 15), or and, or and xor masks over 32 lanes
template <int pattern> inline int xpiler_ds_swizzle(int value) {
  const int lane = __lane_id();
  if constexpr ((pattern & 0x8000) != 0) return __shfl(value, (lane & ~3) | (pattern >> (2 * (lane & 3)) & 3));
  return __shfl(value, (lane & ~31) | ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31)));
}
// Data parallel primitives: the lane that lane `lane` reads by control `c`, -1 for none (a row has 16 lanes)
template <int c> inline int xpiler_dpp_source(int lane) {
  const int in_row = lane & 15, n = c & 15;
  if constexpr (c <= 0xff) return (lane & ~3) | (c >> (2 * (lane & 3)) & 3);
  else if constexpr (c <= 0x10f) return in_row + n < 16 ? lane + n : -1;
  else if constexpr (c <= 0x11f) return in_row >= n ? lane - n : -1;
  else if constexpr (c <= 0x12f) return (lane & ~15) | ((in_row - n) & 15);
  else if constexpr (c == 0x130) return lane < 63 ? lane + 1 : -1;
  else if constexpr (c == 0x134) return (lane + 1) & 63;
  else if constexpr (c == 0x138) return lane - 1;
  else if constexpr (c == 0x13c) return (lane - 1) & 63;
  else if constexpr (c == 0x140) return lane ^ 15;
  else if constexpr (c == 0x141) return lane ^ 7;
  else if constexpr (c == 0x142) return (lane & ~15) - 1;
  else return lane >= 32 ? 31 : -1;
}
// A lane whose row or bank is not enabled keeps `old`, and so does one without a source unless `zero` is set. `old` of mov_dpp is undefined.
template <int c, int rows, int banks, bool zero> inline int xpiler_update_dpp(int old, int value) {
  const int lane = __lane_id(), source = xpiler_dpp_source<c>(lane);
  const int moved = __shfl(value, source < 0 ? lane : source);
  if ((rows >> (lane >> 4) & 1) == 0 || (banks >> (lane >> 2 & 3) & 1) == 0) return old;
  return source >= 0 ? moved : zero ? 0 : old;
}
// Matrix fused multiply-add on a wavefront of 64 lanes (AMD MI200 ISA Reference Guide, V_MFMA_*; AMD Matrix Instruction Calculator): lane `l`
// holds column l % n; its registers come in fours, and 64 / n groups of lanes share the rows. Operands come from their lanes by shuffles.
template <int n> inline int xpiler_mfma_row(int r, int lane) { return r / 4 * (256 / n) + lane / n * 4 + r % 4; }
template <int n, int k, class V> inline V xpiler_mfma_f32(float a, float b, V c) {
  const int lane = __lane_id();
  V d = c;
  for (int i = 0; i < k; ++i) {
    const float of_b = __shfl(b, lane % n + n * i);
    for (int r = 0; r < n * n / 64; ++r) d[r] += __shfl(a, xpiler_mfma_row<n>(r, lane) + n * i) * of_b;
  }
  return d;
}
template <int n, int k, class V> inline V xpiler_mfma_i8(int a, int b, V c) {
  const int lane = __lane_id();
  V d = c;
  for (int i = 0; i < k; ++i) {
    const int of_b = (signed char)(__shfl(b, lane % n + n * (i / 4)) >> i % 4 * 8);
    for (int r = 0; r < n * n / 64; ++r)
      d[r] = (int)((unsigned int)d[r] + (unsigned int)((signed char)(__shfl(a, xpiler_mfma_row<n>(r, lane) + n * (i / 4)) >> i % 4 * 8) * of_b));
  }
  return d;
}
#pragma clang force_cuda_host_device end
#define __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, cbsz, abid, blgp) \
  (xpiler_check_mfma((cbsz) | (abid) | (blgp)), xpiler_mfma_f32<16, 4>((a), (b), (c)))
#define __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, cbsz, abid, blgp) \
  (xpiler_check_mfma((cbsz) | (abid) | (blgp)), xpiler_mfma_f32<32, 2>((a), (b), (c)))
#define __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, c, cbsz, abid, blgp) \
  (xpiler_check_mfma((cbsz) | (abid) | (blgp)), xpiler_mfma_i8<16, 16>((a), (b), (c)))
#define __builtin_amdgcn_ds_bpermute(address, value) xpiler_ds_bpermute(address, value)
#define __builtin_amdgcn_readlane(value, lane) xpiler_readlane(value, lane)
#define __builtin_amdgcn_readfirstlane(value) xpiler_readfirstlane(value)
#define __builtin_amdgcn_ds_swizzle(value, pattern) (xpiler_check_swizzle(pattern), xpiler_ds_swizzle<(pattern)>(value))
#define __builtin_amdgcn_update_dpp(old, value, control, rows, banks, zero) \
  (xpiler_check_dpp(control), xpiler_update_dpp<(control), (rows), (banks), (zero)>((old), (value)))
#define __builtin_amdgcn_mov_dpp(value, control, rows, banks, zero) __builtin_amdgcn_update_dpp(value, value, control, rows, banks, zero)
#define __builtin_amdgcn_wavefrontsize() ((unsigned int)warpSize)
#define __builtin_amdgcn_s_barrier() __syncthreads()
#define __builtin_amdgcn_fence(order, scope) ((void)0)
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __builtin_amdgcn_rcpf(x) __frcp_rn(x)
#define __builtin_amdgcn_rsqf(x) rsqrtf(x)
#define __builtin_amdgcn_sqrtf(x) sqrtf(x)
#define __builtin_amdgcn_exp2f(x) exp2f(x)
#define __builtin_amdgcn_logf(x) log2f(x)
#define __builtin_amdgcn_fmed3f(a, b, c) fmaxf(fminf(a, b), fminf(fmaxf(a, b), c))
#endif
