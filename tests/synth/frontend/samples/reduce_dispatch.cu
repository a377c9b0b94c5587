// global device pointers, macros for launch, switch of block size templates, bool, multi statement
#define N 1000
#define DIV_UP(a,b) (((a)+(b)-1)/(b))
#define LAUNCH(k, g, b, ...) do { k<<<g, b>>>(__VA_ARGS__); } while (0)
static float *g_buf;
__device__ float scratch[16];
template <unsigned int B> __global__ void red(const float *x, float *out, int n) { __shared__ float s[B]; unsigned t = threadIdx.x; float v=0; for (int i=t;i<n;i+=B) v+=x[i]; s[t]=v; __syncthreads(); if (B>=64) { if (t<32) s[t]+=s[t+32]; __syncthreads(); } for (unsigned k=(B>=64?16:B/2);k>0;k/=2) { if (t<k) s[t]+=s[t+k]; __syncthreads(); } if (t==0) *out=s[0]; }
extern "C" bool red_host(const float *x, float *out, int n, int threads) {
  float *dx = nullptr; if (cudaMalloc(&dx, n*sizeof(float)) != cudaSuccess) return false;
  if (cudaMalloc(&g_buf, sizeof(float)) != cudaSuccess) return false;
  cudaMemcpy(dx, x, n*sizeof(float), cudaMemcpyHostToDevice);
  switch (threads) { case 64: red<64><<<1,64>>>(dx, g_buf, n); break; case 32: LAUNCH(red<32>, 1, 32, dx, g_buf, n); break; }
  cudaMemcpy(out, g_buf, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  return true;
}
