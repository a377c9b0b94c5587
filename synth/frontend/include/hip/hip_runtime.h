// What a HIP file includes. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_HIP_HIP_RUNTIME_H
#define XPILER_HIP_HIP_RUNTIME_H
// user code asks for this guard of the toolkit
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#include <host_defines.h>
#include <hip/hip_runtime_api.h>
#include <device_launch_parameters.h>
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <xpiler/hip_device.h>
#include <xpiler/hip_vectors.h>

// A launch as a call (HIP Programming Guide, "Calling __global__ Functions"); the name of a kernel may be in parentheses.
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#endif
