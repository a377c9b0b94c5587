// NVTX ranges. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_NVTX3_NVTOOLSEXT_H
#define XPILER_NVTX3_NVTOOLSEXT_H
extern "C" {
int nvtxRangePushA(const char *name);
int nvtxRangePop();
void nvtxMarkA(const char *name);
}
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#endif
