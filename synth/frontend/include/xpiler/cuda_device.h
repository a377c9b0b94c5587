// Device functions of CUDA: masks of lanes have 32 bits; textures. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_XPILER_CUDA_DEVICE_H
#define XPILER_XPILER_CUDA_DEVICE_H
#include <driver_types.h>
#define XP_LANE_MASK unsigned int
#include <xpiler/gpu_device.h>
#pragma clang force_cuda_host_device begin
template <class T> T tex1Dfetch(cudaTextureObject_t texture, int x);
template <class T> T tex1D(cudaTextureObject_t texture, float x);
template <class T> T tex2D(cudaTextureObject_t texture, float x, float y);
template <class T> T tex3D(cudaTextureObject_t texture, float x, float y, float z);
template <class T> T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer);
template <class T> T texCubemap(cudaTextureObject_t texture, float x, float y, float z);
#pragma clang force_cuda_host_device end
#endif
