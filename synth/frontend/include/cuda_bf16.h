// bfloat16 of CUDA (CUDA Math API, Bfloat16 Precision Intrinsics). For parsing only: nothing here is compiled or linked.
#ifndef XPILER_CUDA_BF16_H
#define XPILER_CUDA_BF16_H
#include <cuda_runtime.h>
#pragma clang force_cuda_host_device begin
struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x);
  __nv_bfloat16(double x);
  __nv_bfloat16(int x);
  operator float() const;
};
struct __attribute__((aligned(4))) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__nv_bfloat16 operator+(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
__nv_bfloat16 operator-(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
__nv_bfloat16 operator*(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
__nv_bfloat16 operator/(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
bool operator<(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
bool operator>(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
bool operator<=(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
bool operator>=(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
bool operator==(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
bool operator!=(const __nv_bfloat16 &a, const __nv_bfloat16 &b);
float __bfloat162float(__nv_bfloat16 x);
__nv_bfloat16 __float2bfloat16(float x);
__nv_bfloat16 __float2bfloat16_rn(float x);
__nv_bfloat162 __float2bfloat162_rn(float x);
__nv_bfloat162 __floats2bfloat162_rn(float x, float y);
float2 __bfloat1622float2(__nv_bfloat162 x);
__nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b);
__nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b);
__nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c);
__nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b);
#pragma clang force_cuda_host_device end
#endif
