// Asynchronous copies (Programming Guide, section Pipeline Interface). For parsing only: nothing here is compiled or linked.
#ifndef XPILER_CUDA_PIPELINE_H
#define XPILER_CUDA_PIPELINE_H
#include <cuda_runtime.h>
#pragma clang force_cuda_host_device begin
void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zero_fill = 0);
void __pipeline_commit();
void __pipeline_wait_prior(size_t count);
#pragma clang force_cuda_host_device end
#endif
