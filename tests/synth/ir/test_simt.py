"""Launches in the reference interpreter: barriers, warp operations, divergence."""

import numpy as np
import pytest

from synth.ir import interpreter, verifier
from synth.ir.interpreter import InterpreterError
from synth.ir.text import parse_module


def kernel(body: str, block: tuple[int, int, int] = (8, 1, 1), grid: int = 1, shared: str = "") -> str:
    loops = [("block.z", "bz", 1), ("block.y", "by", 1), ("block.x", "bx", grid)]
    inner = [("thread.z", "tz", block[2]), ("thread.y", "ty", block[1]), ("thread.x", "tx", block[0])]
    text = "module f(o: i32[] global inout) dialect=cuda { launch k {"
    for axis, name, count in loops:
        text += f"for.{axis} {name}: u32 in 0u32..{count}u32 step 1u32 {{"
    text += shared
    for axis, name, count in inner:
        text += f"for.{axis} {name}: u32 in 0u32..{count}u32 step 1u32 {{"
    return text + body + "}" * 8


def run(body: str, count: int = 64, **shape: object) -> list[int]:
    module = parse_module(kernel(body, **shape))
    verifier.check(module)
    out = np.full(count, -1, np.int32)
    interpreter.run(module, {"o": out}, max_steps=100_000)
    return out.tolist()


def test_barriers_separate_phases():
    body = """
    s[tx:u32] = cast<i32>(tx:u32)
    sync block
    o[((bx:u32 * 8u32) + tx:u32)] = (s[(7u32 - tx:u32)]:i32 + cast<i32>(bx:u32))
    """
    got = run(body, 16, grid=2, shared="alloc s: i32[8i32] shared ")
    assert got == [7, 6, 5, 4, 3, 2, 1, 0, 8, 7, 6, 5, 4, 3, 2, 1]


def test_tree_reduction_with_barriers_in_a_loop():
    body = """
    s[tx:u32] = (cast<i32>(tx:u32) + 1i32)
    sync block
    alloc step: u32[] local
    step[] = 4u32
    while (step[]:u32 > 0u32) {
      if (tx:u32 < step[]:u32) { s[tx:u32] = (s[tx:u32]:i32 + s[(tx:u32 + step[]:u32)]:i32) }
      sync block
      step[] = (step[]:u32 >> 1u32)
    }
    if (tx:u32 == 0u32) { o[0i32] = s[0i32]:i32 }
    """
    assert run(body, 1, shared="alloc s: i32[8i32] shared ") == [36]


def test_threads_that_returned_do_not_hold_up_barriers():
    body = "if (tx:u32 >= 5u32) { return } sync block o[tx:u32] = 1i32"
    assert run(body, 8) == [1, 1, 1, 1, 1, -1, -1, -1]


def test_linear_thread_index_counts_x_first():
    body = """
    alloc b: u32[] local
    call warp.ballot(&b[]; 255u32, (ty:u32 == 1u32))
    o[((ty:u32 * 4u32) + tx:u32)] = cast<i32>(b[]:u32)
    """
    assert run(body, 8, block=(4, 2, 1)) == [0xF0] * 8


@pytest.mark.parametrize(
    ("op", "operand", "width", "expected"),
    [
        ("shfl", "2i32", 32, [2] * 8),
        ("shfl", "5i32", 4, [1, 1, 1, 1, 5, 5, 5, 5]),
        ("shfl_up", "2u32", 32, [0, 1, 0, 1, 2, 3, 4, 5]),
        ("shfl_up", "1u32", 4, [0, 0, 1, 2, 4, 4, 5, 6]),
        ("shfl_down", "1u32", 8, [1, 2, 3, 4, 5, 6, 7, 7]),
        ("shfl_down", "3u32", 4, [3, 1, 2, 3, 7, 5, 6, 7]),
        ("shfl_xor", "1i32", 32, [1, 0, 3, 2, 5, 4, 7, 6]),
        ("shfl_xor", "4i32", 32, [4, 5, 6, 7, 0, 1, 2, 3]),
        ("shfl_xor", "4i32", 4, [0, 1, 2, 3, 0, 1, 2, 3]),
    ],
)
def test_shuffles(op, operand, width, expected):
    """CUDA C++ Programming Guide, "Warp Shuffle Functions"; a read across a later group gives the own value, an earlier one is allowed."""
    body = f"""
    alloc t: i32[] local
    call warp.{op}(&t[]; 255u32, cast<i32>(tx:u32), {operand}, {width}i32)
    o[tx:u32] = t[]:i32
    """
    assert run(body, 8) == expected


def test_votes_and_partial_masks():
    body = """
    if (tx:u32 < 4u32) {
      alloc any: bool[] local
      call warp.any(&any[]; 15u32, (tx:u32 == 3u32))
      alloc all: bool[] local
      call warp.all(&all[]; 15u32, (tx:u32 < 3u32))
      alloc active: u32[] local
      call warp.activemask(&active[];)
      o[tx:u32] = ((cast<i32>(any[]:bool) + (cast<i32>(all[]:bool) * 2i32)) + (cast<i32>(active[]:u32) << 4i32))
    }
    """
    assert run(body, 8) == [1 + (15 << 4)] * 4 + [-1] * 4


def failure(body: str, **shape: object) -> InterpreterError:
    with pytest.raises(InterpreterError) as caught:
        run(body, **shape)
    return caught.value


def test_a_value_from_a_lane_outside_the_mask_is_undefined():
    body = """
    if (tx:u32 < 4u32) {
      alloc t: i32[] local
      call warp.shfl(&t[]; 15u32, 1i32, 6i32, 32i32)
      o[tx:u32] = t[]:i32
    }
    """
    assert failure(body).kind == "uninitialised"


def test_divergent_barriers_are_reported():
    found = failure("if (tx:u32 < 4u32) { sync block o[tx:u32] = 1i32 } else { sync block }")
    assert found.kind == "divergence" and "sync block at" in found.message
    body = "alloc t: i32[] local if (tx:u32 < 4u32) { call warp.shfl(&t[]; 255u32, 1i32, 0i32, 32i32) } else { sync block }"
    assert failure(body).kind == "divergence"
    body = "alloc t: i32[] local call warp.shfl(&t[]; 1u32, 1i32, 0i32, 32i32)"
    assert "leaves it out" in failure(body).message


def test_warps_are_separate():
    body = """
    alloc t: i32[] local
    call warp.shfl(&t[]; 4294967295u32, cast<i32>(tx:u32), 3i32, 32i32)
    o[tx:u32] = t[]:i32
    """
    assert run(body, 64, block=(64, 1, 1)) == [3] * 32 + [35] * 32


def wavefront(body: str, block: int = 64) -> list[int]:
    """What 64 lanes do that are one warp."""
    module = parse_module(kernel(body, block=(block, 1, 1)).replace("dialect=cuda", "dialect=hip warp=64"))
    verifier.check(module)
    out = np.full(block, -1, np.int32)
    interpreter.run(module, {"o": out}, max_steps=100_000)
    return out.tolist()


ALL_LANES = "18446744073709551615u64"


@pytest.mark.parametrize(
    ("op", "operand", "width", "expected"),
    [
        ("shfl", "40i32", 64, [40] * 64),
        ("shfl", "3i32", 32, [3] * 32 + [35] * 32),
        ("shfl_down", "32u32", 64, [*range(32, 64), *range(32, 64)]),
        ("shfl_up", "32u32", 64, [*range(32), *range(32)]),
        ("shfl_xor", "32i32", 64, [i ^ 32 for i in range(64)]),
        ("shfl_xor", "63i32", 64, [63 - i for i in range(64)]),
    ],
)
def test_shuffles_of_64_lanes(op, operand, width, expected):
    body = f"""
    alloc t: i32[] local
    call warp.{op}(&t[]; {ALL_LANES}, cast<i32>(tx:u32), {operand}, {width}i32)
    o[tx:u32] = t[]:i32
    """
    assert wavefront(body) == expected


def test_ballots_of_64_lanes_have_64_bits():
    body = f"""
    alloc b: u64[] local
    call warp.ballot(&b[]; {ALL_LANES}, (tx:u32 >= 40u32))
    o[tx:u32] = cast<i32>(((b[]:u64 >> cast<u64>(tx:u32)) & 1u64))
    """
    assert wavefront(body) == [0] * 40 + [1] * 24


def test_a_partial_warp_of_64_lanes():
    body = f"""
    alloc t: i32[] local
    call warp.shfl_down(&t[]; {ALL_LANES}, cast<i32>(tx:u32), 1u32, 64i32)
    if (tx:u32 < 39u32) {{ o[tx:u32] = t[]:i32 }}
    """
    assert wavefront(body, 40) == [*range(1, 40), -1]
