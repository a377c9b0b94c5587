// The runtime header of the dialect that is read. For parsing only: nothing here is compiled or linked.
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#else
#include <cuda_runtime.h>
#endif
