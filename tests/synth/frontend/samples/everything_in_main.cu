#include <iostream>
#include <vector>
#include <chrono>
#include <cmath>
#include <cfloat>
#include <random>
#include <cassert>
#include <iomanip>
#include <fstream>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda.h>
#include <sys/time.h>
#include <memory>
#include <functional>
#include <stdexcept>
#include <omp.h>
#include <math_constants.h>
#include <array>
#include <complex>
#define CHECK(x) do { cudaError_t err = (x); if (err != cudaSuccess) { std::cerr << "x " << cudaGetErrorString(err) << " " << __FILE__ << std::endl; exit(EXIT_FAILURE);} } while(0)
template<typename T> __device__ T warpSum(T v){ for(int o=16;o>0;o>>=1) v+=__shfl_down_sync(0xffffffff,v,o); return v;}
__constant__ float cw[16];
__global__ void k(const float* __restrict__ x, float*y,int n){ 
  extern __shared__ float sm[]; int i=blockIdx.x*blockDim.x+threadIdx.x; float v = i<n? __ldg(x+i):-INFINITY; v=fmaxf(v,max(v,0.f)); v=exp(v)+std::exp(v)+__expf(v)+pow(v,2)+powf(v,2.0f)+std::max(v,2.f)+std::numeric_limits<float>::lowest();
  float4 f=make_float4(1,2,3,4); f.x+=rsqrtf(v); sm[threadIdx.x]=v; __syncthreads(); y[i]=warpSum(sm[0]+f.x); if(i==0) atomicAdd(y,1.f); y[0]+=sqrt(n)+abs(v)+fabs(v)+isnan(v)+ std::isinf(v)+cw[3]; int q=min(n,3)+max(n,(int)3u)+abs(n); 
  half h=__float2half(v); y[1]=__half2float(h*h)+q+std::min<int>(n,2); assert(n>0); if(n<0) printf("x%d",n); long l = min(3l, 4l); size_t s = max((size_t)3, (size_t)n);}
static inline int ceil_div(int a,int b){return (a+b-1)/b;}
void checkResult(const std::vector<float>&a, const float*b){ for(size_t i=0;i<a.size();i++) if(std::abs(a[i]-b[i])>1e-3) {std::cout<<"bad "<<i<<" "<<std::setprecision(3)<<a[i]<<"\n"; return;} }
extern "C" void run(const float*x,float*y,int n){ float*dx,*dy; CHECK(cudaMalloc(&dx,n*sizeof(float))); cudaMalloc((void**)&dy,n*4); cudaMemcpy(dx,x,n*4,cudaMemcpyHostToDevice);
 dim3 g(ceil_div(n,256)), b(256); k<<<g,b,256*4>>>(dx,dy,n); CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize()); cudaFree(dx);cudaFree(dy);
 cudaMemcpyToSymbol(cw, x, 64); cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); }
int main(int argc,char**argv){ int n=argc>1?atoi(argv[1]):1024; std::vector<float> a(n), c(n,1.f); std::mt19937 gen(42); std::uniform_real_distribution<float> dis(-1,1); for(auto&v:a) v=dis(gen);
 auto t0=std::chrono::high_resolution_clock::now(); run(a.data(),c.data(),n); auto t1=std::chrono::high_resolution_clock::now(); std::chrono::duration<double, std::milli> d = t1-t0; double ms=std::chrono::duration<double>(t1-t0).count(); auto us=std::chrono::duration_cast<std::chrono::microseconds>(t1 - t0).count();
 std::cout<<std::fixed<<std::setprecision(3)<<"n="<<n<<' '<<d.count()<<us<<ms<<std::endl; float*h=(float*)malloc(4*n); std::unique_ptr<float[]> p(new float[n]); memset(h,0,n); h[0]=rand()/(float)RAND_MAX; cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); cudaDeviceProp pr; cudaGetDeviceProperties(&pr,0); printf("%s %f\n",pr.name, std::sqrt(2.0)); 
 auto f=[&](int i){return a[i]*2;}; std::generate(a.begin(),a.end(),[&](){return f(1);}); std::ofstream o("x"); o<<1; if(!o) throw std::runtime_error("a"+std::string("b")); struct timeval tv; gettimeofday(&tv,NULL); free(h); return 0;}
