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
#pragma clang force_cuda_host_device end
#define __builtin_amdgcn_ds_bpermute(address, value) xpiler_ds_bpermute(address, value)
#define __builtin_amdgcn_readlane(value, lane) xpiler_readlane(value, lane)
#define __builtin_amdgcn_readfirstlane(value) xpiler_readfirstlane(value)
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
