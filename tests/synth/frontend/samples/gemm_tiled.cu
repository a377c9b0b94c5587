#include <cuda_runtime.h>
#include <stdio.h>
#ifndef M
#define M 64
#endif
constexpr int N = 32, KK = 16;
#define TILE 16
__global__ void gemm(const float *A, const float *B, float *C) { __shared__ float As[TILE][TILE], Bs[TILE][TILE+1]; int row=blockIdx.y*TILE+threadIdx.y, col=blockIdx.x*TILE+threadIdx.x; float acc=0;
 for(int t=0;t<KK/TILE;t++){ As[threadIdx.y][threadIdx.x]=A[row*KK+t*TILE+threadIdx.x]; Bs[threadIdx.y][threadIdx.x]=B[(t*TILE+threadIdx.y)*N+col]; __syncthreads(); 
 #pragma unroll
 for(int k=0;k<TILE;k++) acc+=As[threadIdx.y][k]*Bs[k][threadIdx.x]; __syncthreads(); } C[row*N+col]=acc; }
static float *upload(const float *h, size_t count) { float *d; cudaMalloc(&d, count*sizeof(float)); cudaMemcpy(d,h,count*sizeof(float),cudaMemcpyHostToDevice); return d; }
void alloc2(float **p, int n) { cudaMalloc((void**)p, n*sizeof(float)); }
extern "C" void gemm_host(const float *A, const float *B, float *C) {
  float *dA = upload(A, M*KK), *dB = upload(B, KK*N); float *dC; alloc2(&dC, M*N);
  dim3 grid(N/TILE, M/TILE), block(TILE, TILE);
  gemm<<<grid, block>>>(dA,dB,dC);
  cudaError_t e = cudaGetLastError(); if (e) printf("x\n");
  if (cudaDeviceSynchronize() != cudaSuccess) { printf("bad"); return; }
  cudaMemcpy(C,dC,M*N*sizeof(float),cudaMemcpyDeviceToHost);
}
