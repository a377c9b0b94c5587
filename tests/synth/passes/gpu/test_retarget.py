"""Kernels keep their meaning under ``retarget``: the interpreter runs them before and after, with warps of the two sizes."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.ir import interpreter, verifier
from synth.ir.grammar import Call, Scope, Sync
from synth.ir.text import parse_module
from synth.ir.traversal import walk
from synth.passes.retarget import Retarget
from synth.passes.trace import parse_trace, print_trace
from synth.spec import SPECS

CUDA, HIP = SPECS["sm_80"], SPECS["gfx90a"]


def kernel(body: str, threads: int = 128, warp: int = 32, dialect: str = "cuda", second: int = 1):
    """A kernel of one block over the integers ``x`` (in) and ``y`` (out), one element a thread; ``i`` is the thread, ``v`` its element."""
    count = threads * second
    text = f"""module f(x: i32[{count}i32] global in const, y: i64[{count}i32] global out) dialect={dialect} warp={warp} {{
  launch k {{
    for.block.z bz: u32 in 0u32..1u32 step 1u32 {{ for.block.y by: u32 in 0u32..1u32 step 1u32 {{
    for.block.x bx: u32 in 0u32..1u32 step 1u32 {{
      alloc s: i32[{threads * second}i32] shared
      for.thread.z tz: u32 in 0u32..1u32 step 1u32 {{ for.thread.y ty: u32 in 0u32..{second}u32 step 1u32 {{
      for.thread.x tx: u32 in 0u32..{threads}u32 step 1u32 {{
        let i = ((ty:u32 * {threads}u32) + tx:u32)
        let v = x[i:u32]:i32
        {body}
      }} }} }}
    }} }} }}
  }}
}}"""
    module = parse_module(text)
    verifier.check(module)
    return module


def outputs(module, x):
    y = np.full(len(x), -1, np.int64)
    interpreter.run(module, {"x": x.copy(), "y": y})
    return y


def retargeted(module, spec):
    step = Retarget(spec.dialect, spec.warp_size)
    verdict = step.check(module, spec)
    assert verdict, verdict.reason
    new = step.apply(module, spec)
    verifier.check(new)
    assert (new.dialect, new.warp_size) == (spec.dialect, spec.warp_size)
    return new


def full(warp: int) -> str:
    return "4294967295u32" if warp == 32 else "18446744073709551615u64"


OPERATIONS = st.sampled_from(["shfl", "shfl_up", "shfl_down", "shfl_xor"])


@given(op=OPERATIONS, operand=st.integers(0, 40), width=st.sampled_from([1, 2, 8, 16, 32]), threads=st.sampled_from([32, 64, 96, 128]))
@settings(max_examples=60, deadline=None)
def test_shuffles_of_32_lanes_read_the_same_threads_among_64(op, operand, width, threads):
    kind = "u32" if op in ("shfl_up", "shfl_down") else "i32"
    body = f"""alloc t: i32[] local
        s[i:u32] = {operand}i32
        call warp.{op}(&t[]; {full(32)}, v:i32, cast<{kind}>(s[i:u32]:i32), {width}i32)
        y[i:u32] = cast<i64>(t[]:i32)"""
    module = kernel(body, threads)
    x = np.arange(100, 100 + threads, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(retargeted(module, HIP), x))


@given(op=OPERATIONS, operand=st.integers(0, 31), width=st.sampled_from([1, 4, 32]), threads=st.sampled_from([64, 128, 192]))
@settings(max_examples=60, deadline=None)
def test_segments_of_64_lanes_that_fit_in_32_read_the_same_threads(op, operand, width, threads):
    kind = "u32" if op in ("shfl_up", "shfl_down") else "i32"
    body = f"""alloc t: i32[] local
        call warp.{op}(&t[]; {full(64)}, v:i32, {operand}{kind}, {width}i32)
        y[i:u32] = cast<i64>(t[]:i32)"""
    module = kernel(body, threads, 64, "hip")
    x = np.arange(100, 100 + threads, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(retargeted(module, CUDA), x))


@pytest.mark.parametrize("second", [1, 3])
@pytest.mark.parametrize("op", ["all", "any", "ballot"])
def test_votes_of_32_lanes_among_64(op, second):
    kind = "u32" if op == "ballot" else "bool"
    body = f"""alloc t: {kind}[] local
        call warp.{op}(&t[]; {full(32)}, (v:i32 > 3i32))
        y[i:u32] = cast<i64>(t[]:{kind})"""
    module = kernel(body, 64, second=second)
    rng = np.random.default_rng(3)
    for x in (rng.integers(0, 8, 64 * second), np.zeros(64 * second), np.r_[np.full(32, 9), np.zeros(64 * second - 32)]):
        values = x.astype(np.int32)
        assert np.array_equal(outputs(module, values), outputs(retargeted(module, HIP), values))


def test_part_of_a_warp_votes_in_its_own_half():
    body = """alloc t: u32[] local
        t[] = 0u32
        if (i:u32 >= 32u32) { if (i:u32 < 40u32) { call warp.ballot(&t[]; 255u32, (v:i32 > 0i32)) } }
        y[i:u32] = cast<i64>(t[]:u32)"""
    module = kernel(body, 64)
    x = np.arange(64, dtype=np.int32) % 3
    assert np.array_equal(outputs(module, x), outputs(retargeted(module, HIP), x))


def test_active_masks_are_those_of_the_half():
    body = """alloc t: u32[] local
        call warp.activemask(&t[];)
        y[i:u32] = cast<i64>(t[]:u32)"""
    module = kernel(body, 64)
    x = np.zeros(64, np.int32)
    assert np.array_equal(outputs(module, x), outputs(retargeted(module, HIP), x))


# ------------------------------------------------------------------------------------------------------ barriers

REVERSED = "s[i:u32] = v:i32\n sync warp\n y[i:u32] = cast<i64>(s[(i:u32 ^ 31u32)]:i32)"


def test_a_barrier_that_all_lanes_reach_stays():
    module = kernel(REVERSED, 64)
    new = retargeted(module, HIP)
    assert any(isinstance(s, Sync) and s.scope is Scope.WARP for s in walk(new.body))
    x = np.arange(64, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(new, x))


def test_a_barrier_of_one_of_two_warps_is_one_of_its_lanes():
    module = kernel(f"y[i:u32] = 7i64\n if (i:u32 < 32u32) {{ {REVERSED} }}", 64)
    new = retargeted(module, HIP)
    assert any(isinstance(s, Call) and s.op == "warp.sync" for s in walk(new.body))
    x = np.arange(64, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(new, x))


def test_a_barrier_behind_a_vote_of_32_lanes_is_not_one_of_64():
    body = f"""alloc t: bool[] local
        call warp.any(&t[]; {full(32)}, (v:i32 > 40i32))
        y[i:u32] = 0i64
        if t[]:bool {{ {REVERSED} }}"""
    module = kernel(body, 64)
    new = retargeted(module, HIP)
    assert any(isinstance(s, Call) and s.op == "warp.sync" for s in walk(new.body))
    x = np.arange(64, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(new, x))


def test_a_barrier_of_64_lanes_becomes_one_of_the_block():
    module = kernel(REVERSED.replace("31u32", "63u32"), 128, 64, "hip")
    new = retargeted(module, CUDA)
    assert any(isinstance(s, Sync) and s.scope is Scope.BLOCK for s in walk(new.body))
    x = np.arange(128, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(new, x))


def test_a_block_of_one_small_warp_keeps_its_operations():
    body = f"""alloc t: i32[] local
        call warp.shfl_xor(&t[]; {full(64)}, v:i32, 16i32, 64i32)
        y[i:u32] = cast<i64>(t[]:i32)"""
    module = kernel(body, 32, 64, "hip")
    x = np.arange(32, dtype=np.int32)
    assert np.array_equal(outputs(module, x), outputs(retargeted(module, CUDA), x))


# ------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("alloc t: i32[] local call warp.shfl_down(&t[]; FULL, v:i32, 32u32, 64i32)", "over the whole warp of 64 lanes"),
        ("alloc t: i32[] local call warp.shfl_xor(&t[]; FULL, v:i32, 32i32, 32i32)", "not known to be below 32"),
        ("alloc t: i32[] local call warp.shfl_down(&t[]; FULL, v:i32, cast<u32>(v:i32), 16i32)", "not known to be below 32"),
        ("alloc t: u64[] local call warp.ballot(&t[]; FULL, (v:i32 > 3i32))", r"\(warp.ballot\) of 64 lanes"),
        ("if (v:i32 > 3i32) { sync warp }", "a barrier of warps of 64 lanes that not all threads of the block reach"),
    ],
)
def test_what_32_lanes_cannot_do_is_refused_by_name(body, reason):
    module = kernel(body.replace("FULL", full(64)), 128, 64, "hip")
    verdict = Retarget("cuda", 32).check(module, CUDA)
    assert not verdict and re.search(reason, verdict.reason)


def test_limits_of_the_device_are_kept():
    module = kernel("y[i:u32] = 1i64", 2048)
    assert "2048 threads" in Retarget("hip", 64).check(module, HIP).reason


def test_the_pass_is_proposed_once_and_its_trace_is_read_back():
    module = kernel("y[i:u32] = 1i64", 64)
    (step,) = Retarget.space(module, HIP)
    assert Retarget.space(step.apply(module, HIP), HIP) == ()
    assert parse_trace(print_trace((step,))) == (step,)
    assert Retarget.space(module, CUDA) == ()
