"""Loops as launches: what is bound computes the same, what may not be bound is refused with its reason."""

from __future__ import annotations

import pytest

from synth.passes.loop_bind import LoopBind
from synth.spec import SPECS
from tests.synth.passes.gpu.programs import agree, bound, c_module, refused, shapes
from tests.synth.passes.programs import BUFFERS, module

ADD = "void f(const float* A, float* C, int n) { for (int i = 0; i < n; i++) C[i] = A[i] + 1; }"
NEST = "void f(const float* A, float* C, int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) C[i * m + j] = A[j] * i; }"


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 700])
def test_a_loop_with_a_guarded_tail(n: int) -> None:
    m = c_module(ADD)
    agree(m, bound(m, "loop_bind{x=(i), threads_x=32}"), {"n": n})


@pytest.mark.parametrize("trace", ["x=(j), y=(i), threads_x=8, threads_y=4", "x=(i; j), threads_x=32", "x=(i), y=(j), threads_x=4"])
@pytest.mark.parametrize(("n", "m"), [(0, 5), (5, 0), (1, 1), (5, 9), (8, 8)])
def test_nests_in_two_dimensions_or_collapsed(trace: str, n: int, m: int) -> None:
    before = c_module(NEST)
    after = bound(before, f"loop_bind{{{trace}}}")
    agree(before, after, {"n": n, "m": m})
    agree(before, bound(after, "device_buffers | simplify"), {"n": n, "m": m})


@pytest.mark.parametrize(("n", "m"), [(-2, -3), (-3, 4), (3, 4)])
def test_two_negative_counts_make_no_launch(n: int, m: int) -> None:
    inner = "for j: i32 in 0i32..m:i32 step 1i32 {\n    C[((i:i32 * m:i32) + j:i32)] = A[j:i32]:f32\n  }"
    text = f"for i: i32 in 0i32..n:i32 step 1i32 {{\n  {inner}\n}}"
    before = module(text, f"{BUFFERS}, n: i32, m: i32")
    agree(before, bound(before, "loop_bind{x=(i; j)}"), {"n": n, "m": m})


BOUNDS = [
    "for (int i = 3; i < 40; i++) C[i] = A[i];",
    "for (int i = 1; i < 40; i += 3) C[i] = A[i];",
    "for (int i = -5; i < 40; i += 7) C[i + 5] = A[i + 5];",
    "for (unsigned i = 0; i < 40u; i++) C[i] = A[i];",
    "for (unsigned long i = 2; i < 40ul; i++) C[i] = A[i];",
    "for (long i = 0; i <= 40; i += 2) C[i] = A[i];",
    "for (short i = 0; i < 40; i++) C[i] = A[i];",
]


@pytest.mark.parametrize("text", BOUNDS)
def test_starts_steps_and_types(text: str) -> None:
    m = c_module(f"void f(const float* A, float* C) {{ {text} }}")
    agree(m, bound(m, "loop_bind{x=(i), threads_x=32} | device_buffers | simplify"))


TRIANGLES = [
    "for (int i = 0; i < 20; i++) for (int j = 0; j <= i; j++) C[i * 20 + j] = A[j];",
    "for (int i = 0; i < 20; i++) for (int j = i; j < 20; j++) C[i * 20 + j] = A[j];",
    "for (int i = 0; i < 20; i++) for (int j = i + 1; j < 20; j += 2) C[i * 20 + j] = A[j];",
    "for (int i = 0; i < 20; i++) { int w = i % 3; for (int j = 0; j < w; j++) C[i * 20 + j] = A[j]; }",
    "for (int i = 0; i < 20; i++) if (A[i] > 0) for (int j = 0; j < 10; j++) C[i * 20 + j] = A[i];",
    "for (int i = 0; i < 20; i++) for (int j = i - 3; j < i + 3; j++) C[i * 30 + j + 5] = A[i];",
]


@pytest.mark.parametrize("text", TRIANGLES)
@pytest.mark.parametrize("axes", ["x=(j), y=(i), threads_x=8, threads_y=8", "x=(i; j), threads_x=64"])
def test_bounds_that_depend_on_outer_loops(text: str, axes: str) -> None:
    m = c_module(f"void f(const float* A, float* C) {{ {text} }}")
    agree(m, bound(m, f"loop_bind{{{axes}}}"))


REFUSED = {
    "carried": ("for (int i = 1; i < 50; i++) C[i] = C[i - 1] + A[i];", "same element of 'C'"),
    "aliased": ("for (int i = 0; i < 50; i++) C[i / 2] = A[i];", "same element of 'C'"),
    "wrapped": ("for (int i = 0; i < 300; i++) C[(unsigned char)i] = A[i];", "same element of 'C'"),
    "modulo": ("for (int i = 0; i < 50; i++) C[i % 49] = A[i];", "same element of 'C'"),
    "indirect": ("float t[64]; for (int i = 0; i < 50; i++) t[(int)A[i]] = 1; C[0] = t[3];", "same element of 't'"),
    "mirrored": ("for (int i = 0; i < 50; i++) C[i] = C[49 - i] + 1;", "same element of 'C'"),
    "last value": ("for (int i = 0; i < 50; i++) C[0] = A[i];", "same element of 'C'"),
    "reduction": ("for (int i = 0; i < 50; i++) C[0] += A[i];", "accumulate into 'C'"),
    "scalar": ("float s = 0; for (int i = 0; i < 50; i++) { s = A[i]; C[i] = s; } C[60] = s;", "same element of 's'"),
    "break": ("for (int i = 0; i < 50; i++) { if (A[i] > 1) break; C[i] = 1; }", "breaks"),
    "return": ("for (int i = 0; i < 50; i++) { if (A[i] > 1) return; C[i] = 1; }", "returns"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_iterations_that_need_each_other_stay_a_loop(name: str) -> None:
    text, words = REFUSED[name]
    assert words in refused(LoopBind(("i",)), c_module(f"void f(const float* A, float* C) {{ {text} }}"))


def test_a_nest_is_bound_as_one_only_where_nothing_stands_between() -> None:
    m = c_module(
        "void f(const float* A, float* C) { for (int i = 0; i < 9; i++) { C[i] = 1; for (int j = 0; j < 9; j++) C[i * 9 + j + 9] = 2; } }"
    )
    assert "does not end with" in refused(LoopBind(("i", "j")), m)


def test_a_thread_that_reads_what_the_inner_loop_writes_before_it() -> None:
    m = module(
        "for i: i32 in 0i32..4i32 step 1i32 {\n  let t = C[(i:i32 * 16i32)]:f32\n  for j: i32 in 0i32..16i32 step 1i32 {\n"
        "    C[((i:i32 * 16i32) + j:i32)] = t:f32\n  }\n}"
    )
    assert "reads 'C', which the loop writes" in refused(LoopBind(("i", "j")), m)


def test_scalars_of_the_host_are_read_before_the_launch() -> None:
    m = c_module("void f(const float* A, float* C, int n) { float s = A[3]; s = s * 2; for (int i = 0; i < n; i++) C[i] = A[i] + s; }")
    after = bound(m, "loop_bind{x=(i)} | device_buffers")
    agree(m, after, {"n": 40})


def test_blocks_are_those_of_the_device() -> None:
    m = c_module(ADD)
    assert "1024" in refused(LoopBind(("i",), threads_x=2048), m)
    assert "allows" in refused(LoopBind(("i",), threads_x=1, threads_z=128), m)
    assert "no blocks" in LoopBind(("i",)).check(m, SPECS["avx512_vnni"]).reason  # type: ignore[union-attr]


def test_more_blocks_than_a_grid_may_have_go_on_in_strides() -> None:
    m = c_module("void f(const float* A, float* C) { for (int i = 0; i < 70000; i++) for (int j = 0; j < 2; j++) C[i * 2 + j] = A[j]; }")
    after = bound(m, "loop_bind{x=(j), y=(i), threads_x=2}")
    assert shapes(after)[0]["block.y"] == 65535
    agree(m, after)
