// What nvcc includes before a .cu file. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_CUDA_RUNTIME_H
#define XPILER_CUDA_RUNTIME_H
// user code asks for these guards of the toolkit
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#include <host_defines.h>
#include <cuda_runtime_api.h>
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
#include <xpiler/cuda_device.h>
#endif
