// constant symbol, device global, managed
__constant__ float w[9];
__device__ float table[64];
#define K 3
__global__ void conv(const float *x, float *y, int n) { int i=threadIdx.x+blockIdx.x*blockDim.x; if(i<n-K+1){ float s=0; for(int k=0;k<K;k++) s+=x[i+k]*w[k]; y[i]=s; } }
extern "C" void conv1d(const float *x, const float *k, float *y, int n) {
  cudaMemcpyToSymbol(w, k, K*sizeof(float));
  float *m; cudaMallocManaged(&m, n*sizeof(float)); for (int i=0;i<n;i++) m[i]=x[i];
  float *dy; cudaMalloc(&dy, (n-K+1)*sizeof(float));
  conv<<<(n-K+1+127)/128,128>>>(m,dy,n); cudaDeviceSynchronize();
  cudaMemcpy(y,dy,(n-K+1)*sizeof(float),cudaMemcpyDefault); cudaFree(m);
}
