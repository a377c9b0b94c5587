#include <stdio.h>
#include <stdlib.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void a(float*x,int n){ cg::thread_block b = cg::this_thread_block(); cg::thread_block_tile<32> w = cg::tiled_partition<32>(b); int i=blockIdx.x*blockDim.x+b.thread_rank(); float v=i<n?x[i]:0; for(int o=w.size()/2;o>0;o/=2) v+=w.shfl_down(v,o); cg::sync(b); if(w.thread_rank()==0) x[blockIdx.x*8+w.meta_group_rank()]=v; }
__global__ void b(float*x,int n){ x[0]=n; }
extern "C" void go(float *x, int n, int which) {
  if (!x) { fprintf(stderr, "null\n"); exit(1); }
  switch (which) { case 0: a<<<1,32>>>(x,n); break; case 1: b<<<1,1>>>(x,n); break; default: printf("bad %d\n", which); exit(EXIT_FAILURE); }
}
