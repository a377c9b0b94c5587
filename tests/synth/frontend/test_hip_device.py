"""HIP device code: kernels are launched and run in the reference interpreter, for wavefronts of 64 and of 32 lanes."""

from __future__ import annotations

import numpy as np
import pytest

from synth.errors import UnsupportedError
from synth.frontend import read
from synth.ir import interpreter, verifier
from synth.ir.dtypes import DType
from synth.ir.grammar import Call, Module
from synth.ir.traversal import walk
from synth.source import LaunchShape, ReadOptions, Source

LANES = np.arange(64)


def module_of(body: str, block: int = 64, target: str | None = None, before: str = "") -> Module:
    text = f"#include <hip/hip_runtime.h>\n{before}\n__global__ void k(float *o, const float *a) {{ int t = threadIdx.x;\n{body}\n}}"
    options = ReadOptions(launch=LaunchShape((1, 1, 1), (block, 1, 1)), extents={"o": "64", "a": "64"}, source_target=target)
    module = read(Source(text, "hip", "test.hip"), options).module
    verifier.check(module)
    return module


def run(body: str, block: int = 64, target: str | None = None, before: str = "") -> np.ndarray:
    out = np.zeros(64, np.float32)
    interpreter.run(module_of(body, block, target, before), {"o": out, "a": np.arange(64, dtype=np.float32)}, max_steps=4_000_000)
    return out


def each(expression: str, target: str | None = None) -> np.ndarray:
    return run(f"float v = a[t]; o[t] = {expression};", target=target)


@pytest.mark.parametrize(
    ("expression", "wide", "narrow"),
    [
        ("warpSize", [64] * 64, [32] * 64),
        ("__AMDGCN_WAVEFRONT_SIZE", [64] * 64, [32] * 64),
        ("__shfl_down(v, 32)", [*range(32, 64), *range(32, 64)], None),
        ("__shfl_down(v, 1)", [*range(1, 64), 63], [*range(1, 32), 31, *range(33, 64), 63]),
        ("__shfl_up(v, 2)", [0, 1, *range(62)], [0, 1, *range(30), 32, 33, *range(32, 62)]),
        ("__shfl_xor(v, 16)", LANES ^ 16, LANES ^ 16),
        ("__shfl(v, 3)", [3] * 64, [3] * 32 + [35] * 32),
        ("__shfl(v, 3, 8)", LANES // 8 * 8 + 3, LANES // 8 * 8 + 3),
        ("__popcll(__ballot(t < 40))", [40] * 64, [32] * 32 + [8] * 32),
        ("(__ballot(t == 50) >> 50) == 1", [1] * 64, [0] * 64),
        ("__popcll(__ballot64(1))", [64] * 64, [32] * 64),
        ("__any(t == 40)", [1] * 64, [0] * 32 + [1] * 32),
        ("__all(t < 32)", [0] * 64, [1] * 32 + [0] * 32),
        ("__popcll(__activemask())", [64] * 64, [32] * 64),
        ("__lane_id()", LANES, LANES % 32),
        ("__builtin_amdgcn_readfirstlane(t + 5)", [5] * 64, [5] * 32 + [37] * 32),
        ("__builtin_amdgcn_readfirstlane(t / 64)", [0] * 64, [0] * 64),
        ("__builtin_amdgcn_readlane(t, 7)", [7] * 64, [7] * 32 + [39] * 32),
        ("__builtin_amdgcn_ds_bpermute(4 * (t + 1), t)", (LANES + 1) % 64, LANES // 32 * 32 + (LANES + 1) % 32),
        ("__builtin_amdgcn_wavefrontsize()", [64] * 64, [32] * 64),
        ("__builtin_amdgcn_fmed3f(v, 10.0f, 20.0f)", np.clip(LANES, 10, 20), np.clip(LANES, 10, 20)),
        ("hipThreadIdx_x + hipBlockIdx_x + hipBlockDim_x + hipGridDim_x", LANES + 65, LANES + 65),
        ("__builtin_nontemporal_load(&a[t]) + __ldg(&a[0])", LANES, LANES),
        ("__shfl_xor_sync(0xffffffffffffffffull, v, 1)", LANES ^ 1, LANES ^ 1),
        ("__ffsll(__ballot_sync(~0ull, t > 9))", [11] * 64, [11] * 32 + [1] * 32),
        ("(int)__lane_id() == (int)(threadIdx.x & (warpSize - 1))", [1] * 64, [1] * 64),
    ],
)
def test_lanes_of_a_wavefront(expression, wide, narrow):
    assert each(expression).tolist() == list(np.array(wide, np.float32))
    if narrow is not None:
        assert each(expression, "gfx1100").tolist() == list(np.array(narrow, np.float32))


def quad(lane: int, order: tuple[int, ...]) -> int:
    return lane // 4 * 4 + order[lane % 4]


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (0x1B, [quad(i, (3, 2, 1, 0)) for i in range(64)]),  # quad_perm:[3,2,1,0]
        (0xB1, [quad(i, (1, 0, 3, 2)) for i in range(64)]),  # quad_perm:[1,0,3,2]
        (0x101, [i + 1 if i % 16 < 15 else -1 for i in range(64)]),  # row_shl:1
        (0x104, [i + 4 if i % 16 < 12 else -1 for i in range(64)]),  # row_shl:4
        (0x111, [i - 1 if i % 16 else -1 for i in range(64)]),  # row_shr:1
        (0x118, [i - 8 if i % 16 >= 8 else -1 for i in range(64)]),  # row_shr:8
        (0x121, [i // 16 * 16 + (i - 1) % 16 for i in range(64)]),  # row_ror:1
        (0x130, [*range(1, 64), -1]),  # wave_shl:1
        (0x134, [*range(1, 64), 0]),  # wave_rol:1
        (0x138, [-1, *range(63)]),  # wave_shr:1
        (0x13C, [63, *range(63)]),  # wave_ror:1
        (0x140, [i // 16 * 16 + 15 - i % 16 for i in range(64)]),  # row_mirror
        (0x141, [i // 8 * 8 + 7 - i % 8 for i in range(64)]),  # row_half_mirror
        (0x142, [-1] * 16 + [15] * 16 + [31] * 16 + [47] * 16),  # row_bcast:15
        (0x143, [-1] * 32 + [31] * 32),  # row_bcast:31
    ],
)
def test_data_parallel_primitives(control, expected):
    """LLVM, "Syntax of AMDGPU Instruction Modifiers", dpp_ctrl; a lane without a source keeps the old value, or gets 0."""
    kept = each(f"__builtin_amdgcn_update_dpp(-1, t, {control}, 0xf, 0xf, false)")
    assert kept.tolist() == expected
    zeroed = each(f"__builtin_amdgcn_update_dpp(-1, t, {control}, 0xf, 0xf, true)")
    assert zeroed.tolist() == [max(e, 0) for e in expected]


def test_rows_and_banks_that_are_not_enabled_keep_the_old_value():
    got = each("__builtin_amdgcn_update_dpp(-1, t, 0x1b, 0xa, 0x3, false)")
    assert got.tolist() == [quad(i, (3, 2, 1, 0)) if i // 16 in (1, 3) and i % 16 < 8 else -1 for i in range(64)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (0x041F, LANES ^ 1),  # swap neighbours
        (0x7C1F, LANES // 32 * 32 + 31 - LANES % 32),  # reverse 32 lanes
        (0x0000, LANES // 32 * 32),  # broadcast lane 0
        (0x801B, [quad(i, (3, 2, 1, 0)) for i in range(64)]),
    ],
)
def test_swizzles(pattern, expected):
    assert each(f"__builtin_amdgcn_ds_swizzle(t, {pattern})").tolist() == list(np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("expression", "target", "what"),
    [
        ("__builtin_amdgcn_mov_dpp(t, 0x150, 0xf, 0xf, false)", "gfx90a", "DPP control 0x150"),
        ("__builtin_amdgcn_update_dpp(0, t, 0x142, 0xf, 0xf, false)", "gfx1100", "DPP control 0x142 is not supported on gfx1100"),
        ("__builtin_amdgcn_ds_swizzle(t, 0xC020)", "gfx90a", "pattern 0xc020"),
    ],
)
def test_controls_that_are_not_known_are_refused(expression, target, what):
    with pytest.raises(UnsupportedError, match=what) as caught:
        each(expression, target)
    assert caught.value.location is not None and caught.value.location.file == "test.hip"


def test_builtins_that_are_not_read_are_named():
    with pytest.raises(UnsupportedError, match="__builtin_amdgcn_permlane16"):
        run("o[t] = __builtin_amdgcn_permlane16(t, t, 0, 0, false, false);", target="gfx1100")


def test_masks_have_one_bit_a_lane():
    for target, dtype in (("gfx90a", DType.U64), ("gfx1100", DType.U32)):
        calls = [s for s in walk(module_of("o[t] = __ballot(a[t] > 3);", target=target).body) if isinstance(s, Call)]
        assert calls[0].args[0].type is dtype and int(calls[0].args[0].value) == 2**dtype.bits - 1
        assert module_of("o[t] = 0;", target=target).warp_size == dtype.bits


def test_a_reduction_over_the_wavefront():
    assert run("float v = a[t]; for (int d = warpSize / 2; d > 0; d >>= 1) v += __shfl_down(v, d); if (t == 0) o[0] = v;")[0] == 2016


def test_dynamic_shared_memory():
    text = "HIP_DYNAMIC_SHARED(float, s)\ns[t] = a[t]; __syncthreads(); o[t] = s[63 - t];"
    options = ReadOptions(launch=LaunchShape((1, 1, 1), (64, 1, 1), 256), extents={"o": "64", "a": "64"})
    source = f"#include <hip/hip_runtime.h>\n__global__ void k(float *o, const float *a) {{ int t = threadIdx.x;\n{text}\n}}"
    out = np.zeros(64, np.float32)
    interpreter.run(read(Source(source, "hip", "t.hip"), options).module, {"o": out, "a": np.arange(64, dtype=np.float32)})
    assert out.tolist() == list(range(63, -1, -1))


# ------------------------------------------------------------------------------------------------------- vector types


def test_arithmetic_of_hips_vectors():
    body = """if (t >= 16) return;
    float4 v = ((const float4 *)a)[t], w = v * 2.0f + make_float4(1, 1, 1, 1);
    w -= v; w *= -v; w /= 2.0f;
    ((float4 *)o)[t] = 1.0f - w + (v == v ? v : w);"""
    v = np.arange(64, dtype=np.float32)
    assert run(body).tolist() == (1 - (v + 1) * -v / 2 + v).tolist()


def test_a_users_own_operator_wins():
    before = "__device__ float4 operator+(float4 x, float4 y) { return make_float4(x.x * y.x, 0, 0, 0); }"
    got = run("if (t < 16) { float4 v = ((const float4 *)a)[t]; ((float4 *)o)[t] = v + v; }", before=before)
    assert got[::4].tolist() == [float(i * i) for i in range(0, 64, 4)]


EXT = (
    "typedef float floatx4 __attribute__((ext_vector_type(4)));\nusing floatx2 = __attribute__((__vector_size__(2 * sizeof(float)))) float;"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("floatx4 v = {1, 2, 3, 4}; o[t] = v.x + v.y * 10 + v.z * 100 + v.w * 1000;", 4321),
        ("floatx4 v = {1, 2, 3, 4}; o[t] = v.s0 + v.r + v.a + v[2];", 9),
        ("floatx4 v = {1}; o[t] = v[0] + v[1] + v[3];", 1),
        ("floatx4 v = 3.0f; v += 1.0f; v.y = 7; v[2] *= 2; o[t] = v.x + v.y + v.z + v.w;", 4 + 7 + 8 + 4),
        ("floatx4 v = (floatx4)(2.0f) * 3.0f; o[t] = v.w;", 6),
        ("floatx4 v = {1, 2, 3, 4}; floatx4 w = v.wzyx; o[t] = w.x * 10 + w.w;", 41),
        ("floatx2 p = {1, 2}; p = p + p * p; o[t] = p[0] * 10 + p[1];", 26),
        ("floatx4 v = {1, 2, 3, 4}; float s = 0; for (int i = 0; i < 4; i++) s = s * 10 + v[i]; o[t] = s;", 1234),
        ("floatx4 v = {0}; for (int i = 0; i < 4; i++) v[i] = i + 1; o[t] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;", 4321),
        ("floatx4 v[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}; o[t] = v[1].y * 10 + v[0].w;", 64),
        ("floatx4 v = {1, 2, 3, 4}; floatx4 *p = &v; p->z = 9; o[t] = v[2] + p->x;", 10),
    ],
)
def test_clangs_vectors(body, expected):
    assert run(body, before=EXT)[0] == expected


def test_lanes_that_a_vector_does_not_have():
    with pytest.raises(UnsupportedError, match="lane 4 of a vector of 4"):
        run("floatx4 v = {1, 2, 3, 4}; o[t] = v[4];", before=EXT)
