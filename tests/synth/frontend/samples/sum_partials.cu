// multi-launch reduction, host temp malloc, D2H scalar, loop around launches
#include <cstdlib>
#include <vector>
__global__ void reduce(const float *in, float *out, int n) { extern __shared__ float s[]; int t=threadIdx.x; int i=blockIdx.x*blockDim.x*2+t; float v = i<n?in[i]:0.f; if (i+blockDim.x<n) v+=in[i+blockDim.x]; s[t]=v; __syncthreads();
 for (unsigned k=blockDim.x/2;k>0;k>>=1){ if(t<k) s[t]+=s[t+k]; __syncthreads(); } if(t==0) out[blockIdx.x]=s[0]; }
__global__ void step(float *x, int stride, int n){ int i=threadIdx.x; if(i+stride<n) x[i]+=x[i+stride]; }
extern "C" void sum(const float *x, float *result, int n) {
  const int threads = 256; int blocks = (n + threads*2 - 1)/(threads*2);
  float *dx, *dp; cudaMalloc(&dx, sizeof(*x)*n); cudaMalloc(&dp, blocks*sizeof(float));
  cudaMemcpy(dx, x, n*sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(dp, 0, blocks*sizeof(float));
  reduce<<<blocks, threads, threads*sizeof(float)>>>(dx, dp, n);
  for (int s = 8; s > 0; s >>= 1) step<<<1, 32>>>(dp, s, blocks);
  float *h = (float*)malloc(blocks*sizeof(float));
  float *h2 = new float[blocks];
  std::vector<float> hv(blocks);
  cudaMemcpy(h, dp, blocks*sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(hv.data(), dp, hv.size()*sizeof(float), cudaMemcpyDeviceToHost);
  float total = 0.0f, one = 0; for (int i=0;i<blocks;i++) { total += h[i]; h2[i] = hv[i]; hv[i] = 0; }
  cudaMemcpy(&one, dp, sizeof(float), cudaMemcpyDeviceToHost);
  *result = total + one*0; result[1] = h2[0];
  free(h); delete[] h2; cudaFree(dx); cudaFree(dp);
}
