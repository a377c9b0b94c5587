"""Raises: reductions found by symbolic execution, partial results merged, copies and stores removed, strided loops joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from synth.ir import builder as b
from synth.ir.grammar import Alloc, For, Let, Module, Select, While
from synth.ir.traversal import all_exprs, walk
from synth.passes.copy_elimination import CopyElimination
from synth.passes.host_copies import HostCopies
from synth.passes.loop_recovery import LoopRecovery
from synth.passes.reduction_merge import ReductionMerge
from synth.passes.reduction_raise import ReductionRaise
from synth.passes.store_forward import StoreForward
from synth.passes.stride_merge import StrideMerge
from synth.passes.structurize import Structurize

RAISES = (StoreForward, ReductionRaise, CopyElimination, ReductionMerge, StrideMerge)


def _serial(simt: Any, kernel: str, params: str, grid: str) -> Module:
    names = ", ".join(p.split()[-1].lstrip("*") for p in params.split(","))
    text = f'__global__ void k({params}) {{ {kernel} }} extern "C" void run({params}) {{ k<<<{grid}>>>({names}); }}'
    return simt.apply_all(simt.cuda(text), HostCopies, Structurize, LoopRecovery)


def _loops(module: Module) -> list[tuple[str, int | None]]:
    """Loop names with their literal ends."""
    return [(s.sym.name, b.int_value(s.hi)) for s in walk(module.body) if isinstance(s, For)]


def _arrays(module: Module) -> list[str]:
    return [s.sym.name for s in walk(module.body) if isinstance(s, Alloc) and s.shape]


def _floats(*sizes: int) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.uniform(-1, 1, n).astype(np.float32) for n in sizes]


TREES = {
    "halving": "for (int s = 32; s > 0; s >>= 1) { if (t < s) a[t] = OP(a[t], a[t + s]); __syncthreads(); }",
    "doubling": "for (int s = 1; s < 64; s *= 2) { if (t % (2 * s) == 0) a[t] = OP(a[t], a[t + s]); __syncthreads(); }",
    "unrolled by hand": """if (t < 32) a[t] = OP(a[t], a[t + 32]); __syncthreads(); if (t < 16) a[t] = OP(a[t], a[t + 16]); __syncthreads();
        if (t < 8) a[t] = OP(a[t], a[t + 8]); __syncthreads(); if (t < 4) a[t] = OP(a[t], a[t + 4]); __syncthreads();
        if (t < 2) a[t] = OP(a[t], a[t + 2]); __syncthreads(); if (t < 1) a[t] = OP(a[t], a[t + 1]); __syncthreads();""",
    "by one thread": "if (t == 0) { for (int i = 1; i < 64; ++i) a[0] = OP(a[0], a[i]); } __syncthreads();",
    "swapped": "for (int s = 32; s; s /= 2) { if (s > t) a[t] = OP(a[s + t], a[t]); __syncthreads(); }",
    "unrolled last warp": """for (int s = 32; s > 16; s >>= 1) { if (t < s) a[t] = OP(a[t], a[t + s]); __syncthreads(); }
        if (t < 32) { float v = a[t]; for (int o = 16; o > 0; o /= 2) { float w = __shfl_down_sync(~0u, v, o); v = OP(v, w); }
        if (t == 0) a[0] = v; } __syncthreads();""",
    "two levels of shuffles": """float v = a[t]; int lane = t & 31, warp = t >> 5;
        for (int o = 16; o; o >>= 1) { float w = __shfl_xor_sync(~0u, v, o); v = OP(v, w); } __syncthreads();
        if (lane == 0) a[warp] = v; __syncthreads();
        if (warp == 0) { v = lane < 2 ? a[lane] : ID; for (int o = 16; o; o >>= 1) { float w = __shfl_xor_sync(~0u, v, o); v = OP(v, w); }
        if (lane == 0) a[0] = v; } __syncthreads();""",
}
OPS = {
    "add": ("((x) + (y))", "0.f", np.sum),
    "max": ("fmaxf(x, y)", "-INFINITY", np.max),
    "min": ("((x) < (y) ? (x) : (y))", "1e30f", np.min),
}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("tree", TREES)
def test_reduction_over_a_block_becomes_one_loop(simt: Any, tree: str, op: str) -> None:
    code, neutral, reference = OPS[op]
    kernel = f"""
#define OP(x, y) {code}
#define ID {neutral}
      __shared__ float a[64]; int t = threadIdx.x; a[t] = x[blockIdx.x * 64 + t]; __syncthreads();
      {TREES[tree]} if (t == 0) y[blockIdx.x] = a[0];"""
    before = _serial(simt, kernel, "const float* x, float* y", "3, 64")
    after = simt.apply_all(before, *RAISES)
    x, y = _floats(192, 3)
    result = simt.agree(before, after, {"x": x, "y": y})
    np.testing.assert_allclose(result["y"], reference(x.reshape(3, 64), axis=1), rtol=1e-5, atol=1e-6)
    assert not any(isinstance(s, While) for s in walk(after.body))
    assert not any(isinstance(e, Select) for e in all_exprs(after.body))
    assert sum(hi or 0 for name, hi in _loops(after) if name != "bx") <= 64 + 32 + 2
    assert _arrays(after) == []


def test_softmax_over_a_row_becomes_three_loops(simt: Any) -> None:
    kernel = """__shared__ float s[32]; int t = threadIdx.x; const float* xr = x + blockIdx.x * 64; float* yr = y + blockIdx.x * 64;
      float m = -INFINITY; for (int i = t; i < 64; i += blockDim.x) m = fmaxf(m, xr[i]);
      s[t] = m; __syncthreads(); for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (t < o) s[t] = fmaxf(s[t], s[t + o]); __syncthreads(); }
      m = s[0]; __syncthreads(); float sum = 0.f;
      for (int i = t; i < 64; i += blockDim.x) { float e = expf(xr[i] - m); yr[i] = e; sum += e; }
      s[t] = sum; __syncthreads(); for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (t < o) s[t] += s[t + o]; __syncthreads(); }
      float inv = 1.f / s[0]; for (int i = t; i < 64; i += blockDim.x) yr[i] *= inv;"""
    before = _serial(simt, kernel, "const float* x, float* y", "3, 32")
    after = simt.apply_all(before, *RAISES)
    x, y = _floats(192, 192)
    result = simt.agree(before, after, {"x": x, "y": y})
    e = np.exp(x.reshape(3, 64) - x.reshape(3, 64).max(1, keepdims=True))
    np.testing.assert_allclose(result["y"].reshape(3, 64), e / e.sum(1, keepdims=True), rtol=1e-5)
    assert _loops(after) == [("bx", 3), ("i", 64), ("i", 64), ("i", 64)]
    assert _arrays(after) == []


def test_all_lanes_hold_the_sum(simt: Any) -> None:
    kernel = """int t = threadIdx.x; float v = x[blockIdx.x * 32 + t], c;
      c = v; for (int o = 16; o; o >>= 1) c += __shfl_xor_sync(~0u, c, o);  y[blockIdx.x * 32 + t] = v - c / 32;"""
    before = _serial(simt, kernel, "const float* x, float* y", "2, 32")
    after = simt.apply_all(before, *RAISES)
    x, y = _floats(64, 64)
    result = simt.agree(before, after, {"x": x, "y": y})
    np.testing.assert_allclose(result["y"].reshape(2, 32), x.reshape(2, 32) - x.reshape(2, 32).mean(1, keepdims=True), rtol=1e-4, atol=1e-6)
    assert not any(isinstance(s, While) for s in walk(after.body))


def test_one_reduction_per_row_of_the_block(simt: Any) -> None:
    kernel = """__shared__ float s[4][16]; int t = threadIdx.x, r = threadIdx.y; s[r][t] = x[r * 16 + t]; __syncthreads();
      for (int o = 8; o > 0; o >>= 1) { if (t < o) s[r][t] += s[r][t + o]; __syncthreads(); }  if (t == 0) y[r] = s[r][0];"""
    before = _serial(simt, kernel, "const float* x, float* y", "1, dim3(16, 4)")
    after = simt.apply_all(before, ReductionRaise)
    x, y = _floats(64, 4)
    result = simt.agree(before, after, {"x": x, "y": y})
    np.testing.assert_allclose(result["y"], x.reshape(4, 16).sum(1), rtol=1e-5)
    assert not any(isinstance(s, While) for s in walk(after.body))


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("argmax", "if (t < s && a[t + s] > a[t]) { a[t] = a[t + s]; i[t] = i[t + s]; }"),
        ("a difference", "if (t < s) a[t] -= a[t + s];"),
        ("two operators", "if (t < s) a[t] = s > 2 ? a[t] + a[t + s] : fmaxf(a[t], a[t + s]);"),
    ],
)
def test_what_is_no_fold_is_refused(simt: Any, name: str, tree: str) -> None:
    kernel = f"""__shared__ float a[16]; __shared__ int i[16]; int t = threadIdx.x; a[t] = x[t]; i[t] = t; __syncthreads();
      for (int s = 8; s > 0; s >>= 1) {{ {tree} __syncthreads(); }} if (t == 0) y[0] = a[0] + i[0];"""
    module = _serial(simt, kernel, "const float* x, float* y", "1, 16")
    assert ReductionRaise.space(module, simt.spec) == ()
    verdict = ReductionRaise("a").check(module, simt.spec)
    assert not verdict
    assert verdict.site == "a"


def test_cells_that_are_read_later_keep_their_partial_results(simt: Any) -> None:
    """A scan leaves a different sum in each cell: no fold of all cells replaces it."""
    kernel = """__shared__ float a[16]; int t = threadIdx.x; a[t] = x[t]; __syncthreads();
      for (int s = 1; s < 16; s *= 2) { float v = t >= s ? a[t - s] : 0.f; __syncthreads(); a[t] += v; __syncthreads(); }  y[t] = a[t];"""
    module = _serial(simt, kernel, "const float* x, float* y", "1, 16")
    after = simt.apply_all(module, *RAISES)
    x, y = _floats(16, 16)
    result = simt.agree(module, after, {"x": x, "y": y})
    np.testing.assert_allclose(result["y"], np.cumsum(x), rtol=1e-5, atol=1e-6)


def test_forwarding_stops_at_a_store_that_may_alias(simt: Any) -> None:
    kernel = "float a[4]; a[0] = x[0]; a[n] = x[1]; y[0] = a[0];"
    module = _serial(simt, kernel, "const float* x, float* y, int n", "1, 1")
    after = simt.apply_all(module, StoreForward)
    x, y = _floats(2, 1)
    for n in (0, 2):
        simt.agree(module, after, {"x": x, "y": y, "n": n})
    assert _arrays(after) == ["a"]


def test_forwarding_removes_a_buffer(simt: Any) -> None:
    kernel = "float a[4]; a[0] = x[0] + 1; a[1] = x[1]; a[0] = a[0] * a[1]; y[0] = a[0];"
    module = _serial(simt, kernel, "const float* x, float* y", "1, 1")
    after = simt.apply_all(module, StoreForward)
    x, y = _floats(2, 1)
    simt.agree(module, after, {"x": x, "y": y})
    assert _arrays(after) == []


def test_dead_store_in_a_loop_is_kept_when_the_next_iteration_reads_it(simt: Any) -> None:
    kernel = "float a[1]; a[0] = 0; for (int i = 0; i < n; ++i) { y[i] = a[0]; a[0] = x[i]; }"
    module = _serial(simt, kernel, "const float* x, float* y, int n", "1, 1")
    after = simt.apply_all(module, StoreForward)
    x, y = _floats(5, 5)
    simt.agree(module, after, {"x": x, "y": y, "n": 5})


def test_copy_of_a_changed_source_stays(simt: Any) -> None:
    kernel = "__shared__ float c[8]; int t = threadIdx.x; c[t] = x[t]; __syncthreads(); x[7 - t] = 0; __syncthreads(); y[t] = c[7 - t];"
    module = _serial(simt, kernel, "float* x, float* y", "1, 8")
    assert CopyElimination.space(module, simt.spec) == ()
    after = simt.apply_all(module, StoreForward, CopyElimination)
    x, y = _floats(8, 8)
    simt.agree(module, after, {"x": x, "y": y})
    assert _arrays(after) == ["c"]


def test_uniform_copy_becomes_a_value(simt: Any) -> None:
    kernel = (
        "__shared__ float s; int t = threadIdx.x; if (t == 0) s = x[0] * 3; __syncthreads(); float m = s; __syncthreads(); y[t] = x[t] - m;"
    )
    module = _serial(simt, kernel, "const float* x, float* y", "1, 8")
    after = simt.apply_all(module, StoreForward, CopyElimination)
    x, y = _floats(8, 8)
    simt.agree(module, after, {"x": x, "y": y})
    assert _arrays(after) == []
    assert any(isinstance(s, Let) for s in after.body)


@pytest.mark.parametrize("body", ["y[i + 1] = y[i] + 1;", "y[i / 2] = x[i];", "y[0] = x[i];"])
def test_dependent_strided_iterations_are_refused(simt: Any, body: str) -> None:
    module = _serial(simt, f"for (int i = threadIdx.x; i < 24; i += 8) {{ {body} }}", "const float* x, float* y", "1, 8")
    (application,) = StrideMerge.space(module, simt.spec)
    verdict = application.check(module, simt.spec)
    assert not verdict
    assert "not shown to be independent" in verdict.reason


def test_strided_loop_with_a_symbolic_end(simt: Any) -> None:
    module = _serial(
        simt, "for (int i = blockIdx.x * 8 + threadIdx.x; i < n; i += 24) y[i] = x[i];", "const float* x, float* y, int n", "3, 8"
    )
    after = simt.apply_all(module, StrideMerge)
    x, y = _floats(50, 50)
    simt.agree(module, after, {"x": x, "y": y, "n": 47})
    assert [name for name, _ in _loops(after)] == ["i"]
