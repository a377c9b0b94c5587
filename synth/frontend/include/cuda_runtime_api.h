// Functions of the CUDA runtime API. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_CUDA_RUNTIME_API_H
#define XPILER_CUDA_RUNTIME_API_H
#include <driver_types.h>
extern "C" {
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaThreadSynchronize();
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0);
}
#endif
