"""Device code: kernels are launched and run in the reference interpreter."""

from __future__ import annotations

import re

import numpy as np
import pytest

from synth.errors import UnsupportedError
from synth.frontend.cuda import read
from synth.ir.grammar import Alloc, Call, For, Launch, Module, Scope, Space, Sync, While
from synth.ir.traversal import walk
from synth.source import LaunchShape, ReadOptions, Source


def module_of(text: str, grid=(1, 1, 1), block=(8, 1, 1), shared=0, entry: str | None = None) -> Module:
    parameters = text[text.index("__global__") :].split(")")[0]
    extents = {name: "64" for name in "oa" if re.search(rf"[* ]{name}$|[* ]{name},", parameters)}
    options = ReadOptions(entry=entry, launch=LaunchShape(grid, block, shared), extents=extents)
    return read(Source(text, "cuda", "test.cu"), options).module


def run(text: str, a=None, dtype=np.float32, n: int = 64, **launch: object) -> np.ndarray:
    interpreter = pytest.importorskip("synth.ir.interpreter")
    module = module_of(text, **launch)
    out = np.zeros(n, dtype)
    given = {"o": out, "a": np.arange(64, dtype=dtype) if a is None else a, "n": 64}
    interpreter.run(module, {p.sym.name: given[p.sym.name] for p in module.params}, max_steps=2_000_000)
    return out


def test_index_builtins_in_three_dimensions():
    text = """__global__ void k(float *o) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
        int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
        o[(z * h + y) * w + x] = x + 10 * y + 100 * z + 1000 * warpSize;
    }"""
    got = run(text, grid=(2, 2, 1), block=(2, 2, 2))
    z, y, x = np.mgrid[0:2, 0:4, 0:4]
    assert got[:32].tolist() == (x + 10 * y + 100 * z + 32000).ravel().tolist()


def test_early_return_and_grid_stride():
    text = """__global__ void k(float *o, const float *a, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) o[i] = 2 * a[i];
    }"""
    assert run(text, grid=(3, 1, 1)).tolist() == (2 * np.arange(64)).tolist()
    text = "__global__ void k(float *o, const float *a) { int i = threadIdx.x; if (i >= 5) return; o[i] = a[i] + 1; }"
    assert run(text)[:8].tolist() == [1, 2, 3, 4, 5, 0, 0, 0]


def test_shared_memory_and_tree_reduction():
    text = """__global__ void k(float *o, const float *a) {
        __shared__ float s[8];
        int t = threadIdx.x;
        s[t] = a[blockIdx.x * blockDim.x + t];
        __syncthreads();
        for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
            if (t < step) s[t] += s[t + step];
            __syncthreads();
        }
        if (t == 0) o[blockIdx.x] = s[0];
    }"""
    assert run(text, grid=(2, 1, 1))[:2].tolist() == [28, 92]


def test_dynamic_shared_memory_is_typed_by_its_casts_and_split():
    text = """__global__ void k(float *o, const float *a) {
        extern __shared__ unsigned char raw[];
        float *x = reinterpret_cast<float *>(raw), *y = x + blockDim.x;
        x[threadIdx.x] = a[threadIdx.x]; y[threadIdx.x] = 10;
        __syncthreads();
        o[threadIdx.x] = x[blockDim.x - 1 - threadIdx.x] + y[0];
    }"""
    assert run(text, shared=64)[:8].tolist() == [17, 16, 15, 14, 13, 12, 11, 10]
    allocs = [s for s in walk(module_of(text, shared=64).body) if isinstance(s, Alloc) and s.space is Space.SHARED]
    assert [(str(s.dtype), s.shape[0].value) for s in allocs] == [("f32", 16)]
    with pytest.raises(UnsupportedError, match="dynamic shared"):
        module_of(text)


def test_shared_allocs_stand_between_block_and_thread_loops():
    text = """__device__ float f(float x) { __shared__ float s[2][4]; s[0][threadIdx.x] = x; return s[0][0]; } __global__ void k(float *o) {
        o[0] = f(1) + f(2);
    }"""
    launch = next(s for s in walk(module_of(text, block=(4, 1, 1)).body) if isinstance(s, Launch))
    body, axes = launch.body, []
    while len(body) == 1 and isinstance(body[0], For):
        axes.append(body[0].axis.value)
        body = body[0].body
    assert axes == ["block.z", "block.y", "block.x"]
    assert [type(s) for s in body] == [Alloc, For]  # one buffer, though the function is inlined twice
    assert body[0].space is Space.SHARED


def test_shuffles_and_votes():
    text = """
    __inline__ __device__ float warpSum(float v) { for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d); return v; }
    __global__ void k(float *o, const float *a) {
        float s = warpSum(a[threadIdx.x]);
        float m = a[threadIdx.x];
        for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
        float first = __shfl_sync(0xffffffff, a[threadIdx.x] + 5, 0), up = __shfl_up_sync(0xffffffff, a[threadIdx.x], 1);
        unsigned b = __ballot_sync(0xffffffff, threadIdx.x < 3);
        if (threadIdx.x == 0) { o[0] = s; o[1] = m; o[2] = first; o[3] = b; o[4] = __popc(b); }
        int every = __all_sync(0xffffffff, threadIdx.x < 32), some = __any_sync(0xffffffff, threadIdx.x > 30);
        if (threadIdx.x == 7) { o[5] = up; o[6] = every; o[7] = some; }
    }"""
    assert run(text, block=(32, 1, 1))[:8].tolist() == [496, 31, 5, 7, 3, 6, 1, 1]


def test_a_shuffle_is_a_statement_with_its_default_width():
    text = """__global__ void k(float *o) {
        o[threadIdx.x] = __shfl_down_sync(0xffffffff, o[threadIdx.x], 1) + __shfl_xor_sync(0xff, 1.0f, 2, 8);
    }"""
    down, xor = (s for s in walk(module_of(text).body) if isinstance(s, Call))
    assert down.op == "warp.shfl_down"
    assert down.args[-1].value == 32
    assert xor.op == "warp.shfl_xor"
    assert (xor.args[0].value, xor.args[-1].value) == (0xFF, 8)


def test_barriers_and_read_only_loads():
    text = """__global__ void k(float *o, const float *__restrict__ a) {
        o[threadIdx.x] = __ldg(&a[threadIdx.x]) + __ldcs(a); __syncwarp(); __syncthreads();
    }"""
    assert [s.scope for s in walk(module_of(text).body) if isinstance(s, Sync)] == [Scope.WARP, Scope.BLOCK]
    assert run(text)[:3].tolist() == [0, 1, 2]


def test_vectors_and_math():
    text = """__global__ void k(float *o, const float *a) {
        float4 v = reinterpret_cast<const float4 *>(a)[1];
        float2 w = make_float2(v.x, v.y);
        reinterpret_cast<float4 *>(o)[0] = make_float4(w.y, v.w, rsqrtf(16.0f), __fdividef(v.z, 2.0f));
        o[4] = min(3, 2) + max(1.5f, 0.5f); o[5] = __float_as_int(1.0f) == 0x3f800000; o[6] = __saturatef(7.0f); o[7] = __fmaf_rn(2, 3, 4);
        o[8] = __clz(1) + __ffs(8); o[9] = __float2int_rn(2.5f); o[10] = __mulhi(1 << 30, 8);
    }"""
    assert run(text, block=(1, 1, 1))[:11].tolist() == [5, 7, 0.25, 3, 3.5, 1, 1, 10, 35, 2, 2]


TEMPLATES = """
template <typename T> __device__ T twice(T x) { return x + x; }
template <typename T, int N> __global__ void scale(T *o, const T *a) {
    T r[N];
    #pragma unroll
    for (int i = 0; i < N; ++i) r[i] = twice(a[threadIdx.x * N + i]);
    for (int i = 0; i < N; ++i) o[threadIdx.x * N + i] = r[i];
}
"""


@pytest.mark.parametrize(
    ("entry", "dtype"), [("scale<float, 2>", np.float32), ("scale<int, 4>", np.int32), ("scale<double, 1>", np.float64)]
)
def test_template_kernels(entry, dtype):
    count = 8 * int(entry[-2])
    assert run(TEMPLATES, dtype=dtype, entry=entry)[:count].tolist() == (2 * np.arange(count)).tolist()


def test_pointers_that_advance_in_a_loop():
    text = """__global__ void k(float *o, const float *a, int n) {
        const float *p = a + threadIdx.x;
        o += threadIdx.x;
        float s = 0;
        for (int i = 0; i < n; i += 8, p += 8) s += *p;
        *o = s;
    }"""
    assert run(text)[:8].tolist() == np.arange(64).reshape(8, 8).sum(0).tolist()


def test_halving_loops_stay_while_and_counted_loops_are_for():
    text = """__global__ void k(float *o) {
        for (int d = 16; d > 0; d >>= 1) o[d] = 1; for (int i = threadIdx.x; i < 64; i += blockDim.x) o[i] = 2;
    }"""
    inner = [s for s in walk(module_of(text).body) if isinstance(s, While) or (isinstance(s, For) and s.axis is None)]
    assert [type(s) for s in inner] == [While, For]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("volatile float x = 1; o[0] = x;", "volatile"),
        ("__threadfence();", "__threadfence"),
        ('asm volatile("bar.sync 0;");', "inline assembly"),
        ('o[0] = printf("%d", 1);', "value"),
        ("long long t = clock64(); o[0] = t;", "clock64"),
        ("o[0] = __syncthreads_count(1);", "__syncthreads_count"),
        ("k<<<1, 1>>>(o);", "launched from a kernel"),
    ],
)
def test_what_is_not_read_yet_is_refused_by_name(statement, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        module_of(f"__global__ void k(float *o) {{\n{statement}\n}}")
    assert caught.value.location is not None
    assert caught.value.location.line == 2


def test_output_of_a_kernel_is_left_out_with_a_note_and_its_arguments_act():
    text = '#include <stdio.h>\n__global__ void k(float *o) { int i = 3; printf("%d\\n", i++); if (threadIdx.x == 0) o[i] = i; }'
    assert run(text)[:6].tolist() == [0, 0, 0, 0, 4, 0]
    options = ReadOptions(launch=LaunchShape((1, 1, 1), (8, 1, 1)), extents={"o": "64"})
    notes = [d for d in read(Source(text, "cuda", "test.cu"), options).diagnostics if "printf" in d.message]
    assert [d.location.line for d in notes] == [2]


def test_a_grid_stride_loop_is_counted_when_the_grid_depends_on_a_parameter():
    text = """
    __global__ void k(float *o, int n) {
        int stride = blockDim.x * gridDim.x;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) o[i] = 1;
    }
    void run(float *o, int n) { k<<<(n + 127) / 128, 128>>>(o, n); }
    """
    module = read(Source(text, "cuda", "test.cu"), ReadOptions(extents={"o": "n"})).module
    assert not [s for s in walk(module.body) if isinstance(s, While)]
