// cuRAND: types and names, so that files that call it parse; calls are refused. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_CURAND_KERNEL_H
#define XPILER_CURAND_KERNEL_H
#include <cuda_runtime.h>
#pragma clang force_cuda_host_device begin
struct curandStateXORWOW { unsigned int d, v[5]; };
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandState *state);
unsigned int curand(curandState *state);
float curand_uniform(curandState *state);
float curand_normal(curandState *state);
double curand_uniform_double(curandState *state);
#pragma clang force_cuda_host_device end
#endif
