// The runtime header of the dialect that is compiled.
#pragma once
#if defined(__HIP__)
#include "../hip/hip_runtime.h"
#else
#include "../cuda_runtime.h"
#endif
