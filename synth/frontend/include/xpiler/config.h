// What all headers share. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_XPILER_CONFIG_H
#define XPILER_XPILER_CONFIG_H

#if defined(__CUDA__) || defined(__HIP__)
#define XP_HD __attribute__((host)) __attribute__((device))
#define XP_D __attribute__((device))
#define XP_HOST_DEVICE_BEGIN _Pragma("clang force_cuda_host_device begin")
#define XP_HOST_DEVICE_END _Pragma("clang force_cuda_host_device end")
#else
#define XP_HD
#define XP_D
#define XP_HOST_DEVICE_BEGIN
#define XP_HOST_DEVICE_END
#endif
#ifdef __cplusplus
// What a body that we give no meaning calls, so that whoever reads it refuses it.
XP_HD void xpiler_no_meaning();
#define XP_C_BEGIN extern "C" {
#define XP_C_END }
#else
#define XP_C_BEGIN
#define XP_C_END
#endif
#endif
