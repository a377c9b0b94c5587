"""loop_recovery on kernels written in CUDA: same results under random thread orders, shapes of the result, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Call, For, If, Launch, Module, Scope, Space, Store, Sync, While
from synth.ir.traversal import walk
from synth.passes.host_copies import HostCopies
from synth.passes.loop_recovery import LoopRecovery
from synth.passes.structurize import Structurize

STEPS = (HostCopies, Structurize, LoopRecovery)


def _host(params: str, grid: str, kernel: str) -> str:
    """An entry that passes device pointers through."""
    names = ", ".join(p.split()[-1].lstrip("*") for p in params.split(","))
    return f'extern "C" void run({params}) {{ {kernel}<<<{grid}>>>({names}); }}'


def _recovered(simt: Any, text: str) -> tuple[Module, Module]:
    before = simt.cuda(text)
    after = simt.apply_all(before, *STEPS)
    for stmt in walk(after.body):
        assert not isinstance(stmt, Launch | Sync)
        assert not (isinstance(stmt, For) and stmt.axis is not None)
        assert not (isinstance(stmt, Call) and stmt.op.startswith("warp."))
    assert after.dialect == "c"
    return before, after


def _arrays(module: Module) -> dict[str, int]:
    """Elements of the private arrays of a serial module."""
    sizes: dict[str, int] = {}
    for s in walk(module.body):
        if isinstance(s, Alloc) and s.space is Space.LOCAL and s.shape:
            sizes[s.sym.name] = int(np.prod([b.int_value(e) for e in s.shape]))
    return sizes


def _floats(seed: int, *sizes: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, n).astype(np.float32) for n in sizes]


def test_kernel_without_barriers_gets_no_arrays(simt: Any) -> None:
    text = "__global__ void k(float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2.f * x[i]; }"
    before, after = _recovered(simt, text + _host("float* x, float* y, int n", "3, 16", "k"))
    x, y = _floats(0, 48, 48)
    simt.agree(before, after, {"x": x, "y": y, "n": 41})
    assert _arrays(after) == {}
    assert [s.sym.name for s in walk(after.body) if isinstance(s, For)] == ["bx", "tx"]


def test_value_across_a_barrier_is_expanded_and_indexes_are_not(simt: Any) -> None:
    text = """__global__ void k(float* x, float* y) { __shared__ float s[16]; int t = threadIdx.x; int i = blockIdx.x * 16 + t;
      float v = x[i] * x[i]; s[t] = v; __syncthreads(); y[i] = v + s[15 - t]; }"""
    before, after = _recovered(simt, text + _host("float* x, float* y", "2, 16", "k"))
    x, y = _floats(1, 32, 32)
    result = simt.agree(before, after, {"x": x, "y": y})
    np.testing.assert_allclose(result["y"][:16], x[:16] ** 2 + x[15::-1] ** 2, rtol=1e-6)
    assert _arrays(after) == {"s": 16, "v": 16}


def test_unit_extents_disappear(simt: Any) -> None:
    text = "__global__ void k(float* y) { y[threadIdx.y * 4 + threadIdx.x + blockIdx.z] = blockDim.y; }"
    _, after = _recovered(simt, text + _host("float* y", "1, dim3(1, 4)", "k"))
    assert [s.sym.name for s in walk(after.body) if isinstance(s, For)] == ["ty"]


def test_barrier_in_a_loop_is_interchanged_and_accumulators_are_expanded(simt: Any) -> None:
    text = """__global__ void k(const float* A, const float* B, float* C) {
      __shared__ float As[4][4], Bs[4][4]; int tx = threadIdx.x, ty = threadIdx.y; int row = blockIdx.y * 4 + ty, col = blockIdx.x * 4 + tx;
      float acc = 0.f;
      for (int t = 0; t < 3; ++t) { As[ty][tx] = A[row * 12 + t * 4 + tx]; Bs[ty][tx] = B[(t * 4 + ty) * 8 + col]; __syncthreads();
        for (int k = 0; k < 4; ++k) acc += As[ty][k] * Bs[k][tx]; __syncthreads(); }
      C[row * 8 + col] = acc; }"""
    before, after = _recovered(simt, text + _host("const float* A, const float* B, float* C", "dim3(2, 2), dim3(4, 4)", "k"))
    a, m, c = _floats(2, 96, 96, 64)
    result = simt.agree(before, after, {"A": a, "B": m, "C": c})
    np.testing.assert_allclose(result["C"].reshape(8, 8), a.reshape(8, 12) @ m.reshape(12, 8), rtol=1e-4, atol=1e-5)
    assert _arrays(after) == {"As": 16, "Bs": 16, "acc": 16}


def test_early_return_before_a_barrier_guards_the_phases(simt: Any) -> None:
    text = """__global__ void k(float* x, float* y, int n) { __shared__ float s[8]; int t = threadIdx.x; if (t >= n) return;
      s[t] = x[t]; __syncthreads(); y[t] = s[n - 1 - t]; }"""
    before, after = _recovered(simt, text + _host("float* x, float* y, int n", "1, 8", "k"))
    x, y = _floats(3, 8, 8)
    result = simt.agree(before, after, {"x": x, "y": y, "n": 5})
    np.testing.assert_array_equal(result["y"][:5], x[4::-1])


def test_break_and_continue_around_a_barrier(simt: Any) -> None:
    text = """__global__ void k(float* y, int n) { __shared__ float s[8]; int t = threadIdx.x; float v = t;
      for (int i = 0; i < 6; ++i) { if (i == 1) continue; if (i == n) break; s[t] = v; __syncthreads();
        v += s[(t + i) % 8]; __syncthreads(); }
      y[t] = v; }"""
    before, after = _recovered(simt, text + _host("float* y, int n", "1, 8", "k"))
    for n in (0, 1, 3, 9):
        simt.agree(before, after, {"y": np.zeros(8, np.float32), "n": n})


def test_warp_per_row_becomes_a_row_loop(simt: Any) -> None:
    text = """__global__ void k(const float* x, float* y, int rows) {
      int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31; if (row >= rows) return;
      float s = 0.f; for (int i = lane; i < 40; i += 32) s += x[row * 40 + i];
      for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
      if (lane == 0) y[row] = s; }"""
    before, after = _recovered(simt, text + _host("const float* x, float* y, int rows", "2, 64", "k"))
    x, y = _floats(4, 4 * 40, 4)
    result = simt.agree(before, after, {"x": x, "y": y, "rows": 3})
    np.testing.assert_allclose(result["y"][:3], x.reshape(4, 40)[:3].sum(1), rtol=1e-5)
    assert max(_arrays(after).values()) == 32  # lanes, not the block
    guard = next(s for s in walk(after.body) if isinstance(s, If))
    assert any(isinstance(s, While) for s in walk(guard.then))  # the row's guard stands once, outside the shuffles


@pytest.mark.parametrize(
    "call",
    [
        "__shfl_sync(~0u, v, 3)",
        "__shfl_sync(~0u, v, threadIdx.x + 5, 8)",
        "__shfl_up_sync(~0u, v, 2)",
        "__shfl_up_sync(~0u, v, 3, 16)",
        "__shfl_down_sync(~0u, v, 4)",
        "__shfl_down_sync(~0u, v, 5, 8)",
        "__shfl_xor_sync(~0u, v, 9)",
        "__shfl_xor_sync(~0u, v, 12, 8)",
        "__any_sync(~0u, v > 50)",
        "__all_sync(~0u, v >= 0)",
        "(int)__ballot_sync(~0u, v % 3 == 0)",
        "(int)__ballot_sync(threadIdx.x < 16 ? 0xffffu : 0xffff0000u, v % 5 == 1)",
        "(int)__activemask()",
    ],
)
@pytest.mark.parametrize("block", ["32", "dim3(32, 2)", "dim3(8, 8)"])
def test_warp_operation(simt: Any, call: str, block: str) -> None:
    text = f"__global__ void k(int* y) {{ int t = threadIdx.y * blockDim.x + threadIdx.x; int v = t * 7 % 61; y[t] = {call}; }}"
    before, after = _recovered(simt, text + _host("int* y", f"1, {block}", "k"))
    simt.agree(before, after, {"y": np.zeros(64, np.int32)})


def test_vote_counts_active_lanes_only(simt: Any) -> None:
    text = """__global__ void k(int* y) { int t = threadIdx.x; y[t] = -1;
      if (t % 3 == 1) y[t] = (int)__ballot_sync(0x92492492u, t > 9) ^ (int)__activemask(); }"""
    before, after = _recovered(simt, text + _host("int* y", "1, 32", "k"))
    result = simt.agree(before, after, {"y": np.zeros(32, np.int32)})
    assert result["y"][4] == np.int32((0x92492492 & ~0x3FF) ^ 0x92492492)


def test_block_that_is_no_multiple_of_a_warp(simt: Any) -> None:
    text = "__global__ void k(int* y) { int t = threadIdx.x; y[t] = __shfl_xor_sync(~0u, t * t, 1) + (int)__ballot_sync(~0u, t > 3); }"
    before, after = _recovered(simt, text + _host("int* y", "1, 40", "k"))
    simt.agree(before, after, {"y": np.zeros(40, np.int32)})


def test_strided_loop_with_equal_trip_counts_around_a_barrier(simt: Any) -> None:
    text = """__global__ void k(const float* x, float* y) { __shared__ float s[8];
      for (int i = threadIdx.x; i < 24; i += 8) { s[threadIdx.x] = x[i]; __syncthreads(); y[i] = s[7 - threadIdx.x]; __syncthreads(); } }"""
    before, after = _recovered(simt, text + _host("const float* x, float* y", "1, 8", "k"))
    x, y = _floats(5, 24, 24)
    simt.agree(before, after, {"x": x, "y": y})


def _refusal(simt: Any, text: str) -> str:
    module = simt.cuda(text)
    for kind in (HostCopies, Structurize):
        module = simt.apply_all(module, kind)
    verdict = LoopRecovery("k").check(module, simt.spec)
    assert not verdict
    return str(verdict.reason)


def test_divergent_barrier_is_refused_with_its_line(simt: Any) -> None:
    text = """__global__ void k(float* y) { int t = threadIdx.x;
      if (t < 4) {
        __syncthreads();
      }
      __syncthreads(); y[t] = 1; }"""
    reason = _refusal(simt, text + _host("float* y", "1, 8", "k"))
    assert "differs between the threads" in reason
    assert "test.cu:5" in reason


def test_barrier_in_a_divergent_loop_is_refused(simt: Any) -> None:
    text = "__global__ void k(float* y, int n) { for (int i = threadIdx.x; i < n; i += 8) { y[i] = i; __syncthreads(); } }"
    assert "barrier under a condition" in _refusal(simt, text + _host("float* y, int n", "1, 8", "k"))


def _launch_of(simt: Any, *stmts: Any) -> Module:
    return Module("f", (), (simt.launch((8, 1, 1), (1, 1, 1), (), lambda ix: stmts),), "cuda")


@pytest.mark.parametrize(
    ("stmt", "reason"),
    [(Sync(Scope.DEVICE), "grid-wide barrier"), (Call("grid.sum", (), ()), "grid.sum inside a kernel")],
)
def test_communication_is_refused_by_name(simt: Any, stmt: Any, reason: str) -> None:
    verdict = LoopRecovery("k").check(_launch_of(simt, stmt), simt.spec)
    assert not verdict
    assert reason in verdict.reason


def test_spin_wait_is_refused(simt: Any) -> None:
    text = "__global__ void k(volatile int* flag) { while (flag[0] == 0) { } flag[1] = 1; }"
    assert "spin lock" in _refusal(simt, text + _host("int* flag", "1, 8", "k"))


def test_unknown_launch(simt: Any) -> None:
    assert LoopRecovery("nothing").check(_launch_of(simt), simt.spec).reason == "no such launch"


def test_store_index_stays_in_bounds_of_the_narrowed_loop(simt: Any) -> None:
    text = "__global__ void k(float* y) { int t = threadIdx.x; if (t >= 2 && t < 5) y[t - 2] = t; }"
    before, after = _recovered(simt, text + _host("float* y", "1, 64", "k"))
    simt.agree(before, after, {"y": np.zeros(3, np.float32)})
    loop = next(s for s in walk(after.body) if isinstance(s, For))
    assert (b.int_value(loop.lo), b.int_value(loop.hi)) == (2, 5)
    assert isinstance(loop.body[-1], Store)
    assert DType.I32 is loop.dtype
