"""Host wrappers: memory, copies, launches, error checks, checked by running what was read."""

from __future__ import annotations

import numpy as np
import pytest

from synth.errors import UnsupportedError
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Axis, Call, Const, For, Launch, Role, Space
from synth.ir.text import print_expr, print_module
from synth.ir.traversal import walk
from synth.source import LaunchShape

CHECKED = """
#include <cstdio>
#define CHECK(call) do { cudaError_t status = (call); if (status != cudaSuccess) { \\
    fprintf(stderr, "%s:%d %s\\n", __FILE__, __LINE__, cudaGetErrorString(status)); exit(EXIT_FAILURE); } } while (0)
static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <typename T> __global__ void add(const T *a, const T *b, T *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" void run(const float *a, const float *b, float *c, int n) {
  float *da, *db, *dc = nullptr;
  size_t bytes = n * sizeof(float);
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc((void **)&db, bytes));
  CHECK(cudaMalloc(&dc, sizeof(float) * n));
  CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
  cudaMemcpyAsync(db, b, bytes, cudaMemcpyHostToDevice);
  dim3 block(32);
  dim3 grid(ceil_div(n, block.x));
  add<float><<<grid, block>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost);
  cudaFree(da); cudaFree(db); cudaFree(dc);
}
int main() { run(nullptr, nullptr, nullptr, 0); }
"""


def param(module, name):
    return next(p for p in module.params if p.sym.name == name)


def launches(module):
    return [s for s in walk(module.body) if isinstance(s, Launch)]


def floats(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def test_a_wrapper_with_checks_runs(cuda, execute):
    module = cuda(CHECKED).module
    a, b, c = floats(77, 1), floats(77, 2), np.zeros(77, np.float32)
    execute(module, a=a, b=b, c=c, n=77)
    np.testing.assert_array_equal(c, a + b)


def test_roles_spaces_and_extents_come_from_the_copies(cuda):
    module = cuda(CHECKED).module
    assert [p.role for p in module.params] == [Role.IN, Role.IN, Role.OUT, Role.UNKNOWN]
    assert [p.space for p in module.params if p.is_buffer] == [Space.HOST] * 3
    assert [print_expr(e) for p in module.params if p.is_buffer for e in p.shape] == ["cast<i64>(n:i32)"] * 3
    assert [p.const for p in module.params] == [True, True, False, False]
    assert param(module, "n").shape is None


def test_a_launch_has_six_loops_around_the_kernel(cuda):
    (launch,) = launches(cuda(CHECKED).module)
    axes, body = [], launch.body
    while len(body) == 1 and isinstance(body[0], For) and body[0].axis:
        assert body[0].dtype is DType.U32
        axes.append(body[0].axis)
        body = body[0].body
    assert axes == [Axis.BLOCK_Z, Axis.BLOCK_Y, Axis.BLOCK_X, Axis.THREAD_Z, Axis.THREAD_Y, Axis.THREAD_X]
    assert launch.kernel == "add"


def test_nothing_is_left_of_byte_counts_and_pointer_variables(cuda):
    module = cuda(CHECKED).module
    text = print_module(module)
    assert "bytes" not in text and "status" not in text
    assert [s.sym.name for s in module.body if isinstance(s, Alloc)] == ["da", "db", "dc"]


def test_binds_are_literals_in_the_body_and_assumptions(cuda, execute):
    module = cuda(CHECKED, binds={"n": 64}).module
    (launch,) = launches(module)
    assert launch.body[0].body[0].body[0].hi == Const(2, DType.U32)
    assert [print_expr(e) for e in module.assumes] == ["(n:i32 == 64i32)"]
    assert param(module, "a").shape == (Const(64, DType.I64),)
    a, b, c = floats(64, 1), floats(64, 2), np.zeros(64, np.float32)
    execute(module, a=a, b=b, c=c, n=64)
    np.testing.assert_array_equal(c, a + b)


SEVERAL = """
#include <vector>
#include <cstdlib>
__global__ void partial(const float *in, float *out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void fold(float *x, int stride, int n) { int i = threadIdx.x; if (i < stride && i + stride < n) x[i] += x[i + stride]; }
extern "C" int total(const float *x, float *result, int n, int threads) {
  if (n <= 0) return -1;
  int blocks = (n + threads - 1) / threads;
  float *dx, *dp;
  cudaMalloc(&dx, sizeof(*x) * n);
  cudaMalloc(&dp, blocks * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(dp, 0, blocks * sizeof(float));
  partial<<<blocks, threads, threads * sizeof(float)>>>(dx, dp, n);
  float *h = (float *)malloc(blocks * sizeof(float));
  std::vector<float> v(blocks);
  cudaMemcpy(v.data(), dp, v.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h, dp, blocks * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0.f;
  for (int i = 0; i < blocks; i++) sum += h[i] + v[i];
  result[0] = sum;
  for (int s = 8; s > 0; s >>= 1) fold<<<1, 32>>>(dp, s, blocks);
  cudaMemcpy(result + 1, dp, sizeof(float), cudaMemcpyDeviceToHost);
  free(h); cudaFree(dx); cudaFree(dp);
  return 0;
}
"""


def test_several_launches_temporaries_and_loops_around_launches(cuda, execute):
    module = cuda(SEVERAL).module
    x, result = floats(100, 3), np.zeros(2, np.float32)
    execute(module, x=x, result=result, n=100, threads=16)
    np.testing.assert_allclose(result, [2 * x.sum(), x.sum()], rtol=1e-5)


def test_a_failing_guard_is_an_assumption_and_the_status_is_the_result(cuda):
    read = cuda(SEVERAL)
    assert read.module.result == Const(0, DType.I32)
    assert [print_expr(e) for e in read.module.assumes] == ["(n:i32 > 0i32)"]
    assert any("guard" in d.message and d.location.line == 14 for d in read.diagnostics)


def test_reassigned_status_events_and_streams_vanish(cuda, execute):
    read = cuda("""
#include <iostream>
#include <chrono>
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true) {
  if (code != cudaSuccess) { fprintf(stderr, "GPUassert: %s %s %d\\n", cudaGetErrorString(code), file, line); if (abort) exit(code); }
}
__global__ void scale(float *x, float s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= s;
}
extern "C" cudaError_t run(float *x, int n, float s) {
  cudaEvent_t start, stop; cudaEventCreate(&start); cudaEventCreate(&stop);
  cudaStream_t stream; cudaStreamCreate(&stream);
  float *d = NULL;
  cudaError_t err;
  err = cudaMalloc((void **)&d, n * sizeof(float));
  if (err != cudaSuccess) { std::cerr << "no memory: " << cudaGetErrorString(err) << std::endl; return err; }
  gpuErrchk(cudaMemcpyAsync(d, x, sizeof(float) * n, cudaMemcpyHostToDevice, stream));
  dim3 block, grid; block.x = 32; grid.x = (n + 31) / 32;
  if (grid.x > 2) grid.x = 2;
  cudaEventRecord(start, stream);
  auto begin = std::chrono::high_resolution_clock::now();
  scale<<<grid, block, 0, stream>>>(d, s, n);
  gpuErrchk(cudaPeekAtLastError());
  cudaEventRecord(stop, stream); cudaEventSynchronize(stop);
  float ms = 0; cudaEventElapsedTime(&ms, start, stop);
  std::chrono::duration<double> took = std::chrono::high_resolution_clock::now() - begin;
  printf("%f %f\\n", ms, took.count());
  std::cout << "took " << ms << " " << took.count() << "\\n";
  gpuErrchk(cudaMemcpy(x, d, sizeof(float) * n, cudaMemcpyDeviceToHost));
  cudaFree(d);
  return cudaSuccess;
}
""")
    assert read.module.result == Const(0, DType.U32)
    assert param(read.module, "x").role is Role.INOUT
    assert sum("streams and events" in d.message for d in read.diagnostics) == 1
    assert sum("output" in d.message for d in read.diagnostics) == 1
    x = floats(100)
    wanted = x * np.float32(3)
    execute(read.module, x=x, n=100, s=3.0)
    np.testing.assert_array_equal(x, wanted)


def test_device_pointers_structs_launchers_and_offsets(cuda, execute):
    read = cuda("""
struct Shape { int m, n; float alpha; const float *bias; };
template <int B> __global__ void affine(const float *__restrict__ a, float *__restrict__ c, Shape p) {
  int i = blockIdx.y * B + threadIdx.y, j = blockIdx.x * B + threadIdx.x;
  if (i < p.m && j < p.n) c[i * p.n + j] = p.alpha * a[i * p.n + j] + p.bias[j];
}
template <int B> static void launch(const float *a, float *c, const Shape &p, cudaStream_t s) {
  dim3 grid((p.n + B - 1) / B, (p.m + B - 1) / B);
  affine<B><<<grid, dim3(B, B), 0, s>>>(a, c, p);
}
extern "C" void go(const float *a, const float *bias, float *c, int batch, int m, int n, float alpha, cudaStream_t stream) {
  Shape p; p.m = m; p.n = n; p.alpha = alpha; p.bias = bias;
  for (int b = 0; b < batch; ++b) { const float *ab = a + (size_t)b * m * n; launch<4>(ab, c + b * m * n, p, stream); }
}
""")
    module = read.module
    assert [p.space for p in module.params if p.is_buffer] == [Space.GLOBAL] * 3
    assert [p.role for p in module.params if p.is_buffer] == [Role.IN, Role.IN, Role.OUT]
    assert [print_expr(e) for e in module.assumes] == ["(stream:u64 == 0u64)"]
    a, bias, c = floats(2 * 5 * 6), floats(6, 1), np.zeros(60, np.float32)
    execute(module, a=a, bias=bias, c=c, batch=2, m=5, n=6, alpha=2.0, stream=0)
    np.testing.assert_allclose(c, (2 * a.reshape(2, 5, 6) + bias).ravel(), rtol=1e-6)


def test_constant_symbols_managed_memory_and_local_wrappers(cuda, execute):
    module = cuda("""
__constant__ float w[3];
__global__ void conv(const float *x, float *y, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n - 2) { float s = 0; for (int k = 0; k < 3; k++) s += x[i + k] * w[k]; y[i] = s; }
}
static float *on_device(int count) { float *p; cudaMalloc(&p, count * sizeof(float)); return p; }
static void make(float **p, int count) { cudaMallocManaged((void **)p, count * sizeof(float)); }
extern "C" void conv1d(const float *x, const float *k, float *y, int n) {
  cudaMemcpyToSymbol(w, k, 3 * sizeof(float));
  float *m; make(&m, n);
  for (int i = 0; i < n; i++) m[i] = x[i];
  float *dy = on_device(n - 2);
  conv<<<(n - 2 + 15) / 16, 16>>>(m, dy, n);
  cudaMemcpy(y, dy, (n - 2) * sizeof(float), cudaMemcpyDefault);
}
""").module
    assert print_expr(param(module, "k").shape[0]) == "3i64"
    x, k, y = floats(20), floats(3, 1), np.zeros(18, np.float32)
    execute(module, x=x, k=k, y=y, n=20)
    np.testing.assert_allclose(y, np.correlate(x, k, "valid"), rtol=1e-4, atol=1e-5)


def test_cooperative_groups_are_barriers_ranks_and_shuffles(cuda, execute):
    module = cuda(
        """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sums(const float *x, float *y) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  float v = x[block.thread_rank()];
  float total = cg::reduce(warp, v, cg::plus<float>{});
  cg::sync(block);
  if (warp.thread_rank() == 0) y[warp.meta_group_rank()] = total;
}
""",
        entry="sums",
        launch=LaunchShape((1, 1, 1), (8, 8, 1)),
    ).module
    x, y = floats(64), np.zeros(2, np.float32)
    execute(module, x=x, y=y)
    np.testing.assert_allclose(y, x.reshape(2, 32).sum(1), rtol=1e-5)


@pytest.mark.parametrize("value", ["0", "255", "0x3f"])
def test_memset_fills_with_the_value_that_the_bytes_are(cuda, value):
    module = cuda(f"""
__global__ void k(float *p) {{ p[0] += 1; }}
extern "C" void f(float *p) {{ cudaMemset(p, {value}, 8); k<<<1, 1>>>(p); }}
""").module
    fill = next(s for s in walk(module.body) if isinstance(s, Call) and s.op == "host.fill")
    pattern = np.frombuffer(bytes([int(value, 0)]) * 4, np.float32)[0]
    assert np.array_equal(np.float32(fill.args[0].value), pattern, equal_nan=True)


@pytest.mark.parametrize(
    ("body", "line", "what"),
    [
        ("float *d; cudaMallocPitch(&d, &n, 4, 4);", 3, "cudaMallocPitch"),
        ("void *d; cudaMalloc(&d, 64);", 3, "untyped memory"),
        ("int *q; cudaMalloc(&q, 64); cudaMemcpy(q, p, 64, cudaMemcpyHostToDevice);", 3, "copy from f32 to i32"),
        ("float *d = 0; if (n > 4) cudaMalloc(&d, 64); k<<<1, 1>>>(d);", 3, "outside the branch"),
        ("if (p[0] > 0) exit(1);", 3, "more than its scalar parameters"),
        ("k<<<1, (int)clock()>>>(p);", 3, "a time takes part"),
        ("cudaFuncAttributes q; cudaFuncGetAttributes(&q, (const void *)k);", 3, "cudaFuncGetAttributes"),
    ],
)
def test_refusals_name_construct_and_line(cuda, body, line, what):
    with pytest.raises(UnsupportedError) as caught:
        cuda(f'__global__ void k(float *p) {{ p[0] = 1; }}\nextern "C" void f(float *p, size_t n) {{\n{body}\nk<<<1, 1>>>(p); }}')
    assert what in caught.value.message
    assert caught.value.location is not None and caught.value.location.line == line
    assert caught.value.hint


@pytest.mark.parametrize(
    ("parameter", "what"),
    [
        ("void *p", "void *"),
        ("float **p", "array of pointers"),
        ("const int &p", "reference"),
        ("float4 p", "by value"),
        ("dim3 p", "by value"),
    ],
)
def test_parameters_without_a_place_in_a_module_are_refused(cuda, parameter, what):
    with pytest.raises(UnsupportedError, match="parameter 'p'") as caught:
        cuda(f'__global__ void k() {{}}\nextern "C" void f({parameter}) {{ k<<<1, 1>>>(); }}')
    assert what in caught.value.message and caught.value.location.line == 2
