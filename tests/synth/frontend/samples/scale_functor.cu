// classes, RAII buffer, templates, namespaces, global device pointers
#include <vector>
#include <stdexcept>
#include <string>
namespace detail {
constexpr int kThreads = 128;
inline void check(cudaError_t e, const char *what) { if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e)); }
template <typename T> struct Functor { T s; __host__ __device__ Functor(T s_) : s(s_) {} __device__ T operator()(T x) const { return x * s; } };
template <typename T, typename F> __global__ void map(const T *x, T *y, size_t n, F f) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; size_t stride = (size_t)gridDim.x * blockDim.x; for (; i < n; i += stride) y[i] = f(x[i]); }
}
template <typename T> T *device_alloc(size_t n) { T *p = nullptr; detail::check(cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(T)), "malloc"); return p; }
extern "C" void scale(const float *x, float *y, size_t n, float s) {
  using namespace detail;
  auto *dx = device_alloc<float>(n); auto *dy = device_alloc<float>(n);
  check(cudaMemcpy(dx, x, n * sizeof(*dx), cudaMemcpyHostToDevice), "copy");
  const unsigned blocks = std::min<size_t>((n + kThreads - 1) / kThreads, 65535);
  map<<<blocks, kThreads>>>(dx, dy, n, Functor<float>(s));
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost), "copy back");
  cudaFree(dx); cudaFree(dy);
}
