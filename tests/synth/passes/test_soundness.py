"""What passes must not be fooled by: memory that changes under bounds and guards, control that leaves, lanes that do not run."""

import pytest

from synth.ir.grammar import For, Module
from synth.passes.base import Pass
from synth.passes.loop_contraction import LoopContraction
from synth.passes.loop_distribute import LoopDistribute
from synth.passes.loop_reorder import LoopReorder
from synth.passes.loop_split import LoopSplit
from synth.passes.parallelize import Parallelize
from synth.passes.registry import get, names
from synth.passes.simplify import Simplify
from synth.passes.vectorize import Vectorize
from tests.synth.passes.programs import SPEC, assert_same, module, refusal

INTS = "A: i32[64i64] host in const, B: i32[64i64] host in const, C: i32[64i64] host inout, n: i32, m: i32"
FLOATS = "A: f32[64i64] host in const, I: i32[64i64] host in const, C: f32[64i64] host inout, n: i32, m: i32"
SIZES = ((0, 0), (1, 5), (7, 3), (8, 8), (21, 1), (-3, 4))


def everything_preserves(m: Module) -> None:
    """Every legal application of every pass keeps the meaning."""
    for name in names():
        for step in get(name).space(m, SPEC):
            if step.check(m, SPEC):
                preserves(step, m)


def preserves(step: Pass, m: Module) -> None:
    after = step.apply(m, SPEC)
    for n, k in SIZES:
        assert_same(m, after, {"n": n, "m": k})


# ------------------------------------------------------------------------------------------- bounds from changing memory

CHANGING = [
    "C[0i32] = 20i32\nfor i: i32 in 0i32..C[0i32]:i32 step 1i32 {\n  C[i:i32] = 3i32\n}",
    "C[0i32] = 20i32\nfor i: i32 in 0i32..C[0i32]:i32 step 1i32 {\n  C[0i32] = 5i32\n  if (i:i32 < C[0i32]:i32) {\n"
    "    C[(i:i32 + 1i32)] = 7i32\n  }\n}",
    "C[0i32] = 40i32\nfor i: i32 in 0i32..C[0i32]:i32 step 1i32 {\n  C[0i32] = (C[0i32]:i32 + -1i32)\n}",
    "C[0i32] = 6i32\nfor i: i32 in 0i32..C[0i32]:i32 step 1i32 {\n  for j: i32 in 0i32..7i32 step 1i32 {\n"
    "    C[((i:i32 * 7i32) + j:i32)] = 3i32\n  }\n}",
    "C[63i32] = 3i32\nfor i: i32 in C[63i32]:i32..(C[63i32]:i32 + 1i32) step 1i32 {\n  C[63i32] = 5i32\n  C[i:i32] = 9i32\n}",
    "C[0i32] = 20i32\nfor i: i32 in 0i32..C[0i32]:i32 step 1i32 {\n  C[i:i32] = 3i32\n  C[(i:i32 + 32i32)] = 4i32\n}",
]


@pytest.mark.parametrize("body", CHANGING, ids=range(len(CHANGING)))
def test_bounds_are_evaluated_before_the_body_changes_them(body: str) -> None:
    everything_preserves(module(body, INTS))


@pytest.mark.parametrize("step", [Vectorize("i", 16), LoopSplit("i", 8), Parallelize("i"), LoopDistribute("i", 1)])
def test_loops_that_write_their_own_bounds_are_left_alone(step: Pass) -> None:
    m = module(CHANGING[5], INTS)
    assert "bounds" in refusal(step, m)


def test_an_interchange_would_evaluate_the_outer_bounds_again() -> None:
    assert "bounds" in refusal(LoopReorder("i", "j"), module(CHANGING[3], INTS))


def test_a_bound_defined_in_the_loop_stays_in_it() -> None:
    m = module(
        "C[0i32] = 9i32\nfor i: i32 in 0i32..20i32 step 1i32 {\n  let t = C[0i32]:i32\n  if (i:i32 < t:i32) {\n"
        "    C[(i:i32 + 20i32)] = 7i32\n  }\n}",
        INTS,
    )
    preserves(Simplify(), m)


def test_a_definition_that_loads_what_changes_is_not_read_again() -> None:
    m = module(
        "let t = C[0i32]:i32\nC[0i32] = 5i32\nif (t:i32 == C[0i32]:i32) {\n  C[1i32] = 7i32\n}\nC[2i32] = (t:i32 - C[0i32]:i32)", INTS
    )
    preserves(Simplify(), m)


# ------------------------------------------------------------------------------------------------------ control that leaves


def test_continue_does_not_survive_a_cut() -> None:
    m = module(
        "for i: i32 in 0i32..20i32 step 1i32 {\n  if (A[i:i32]:i32 > 4i32) {\n    continue\n  }\n  C[i:i32] = 1i32\n"
        "  C[(i:i32 + 32i32)] = 2i32\n}",
        INTS,
    )
    everything_preserves(m)
    assert "continue" in refusal(LoopDistribute("i", 1), m)


@pytest.mark.parametrize("leave", ["break", "continue", "return"])
@pytest.mark.parametrize("hi", ["1i32", "4i32", "n:i32"])
def test_loops_that_are_left_early(leave: str, hi: str) -> None:
    m = module(
        f"for i: i32 in 0i32..{hi} step 1i32 {{\n  for j: i32 in 0i32..3i32 step 1i32 {{\n"
        f"    if (A[(i:i32 + j:i32)]:i32 > 4i32) {{\n      {leave}\n    }}\n"
        "    C[((i:i32 * 3i32) + j:i32)] = 1i32\n  }\n}",
        INTS.replace("n: i32, m: i32", "n: i32, m: i32"),
    )
    for name in names():
        for step in get(name).space(m, SPEC):
            if step.check(m, SPEC):
                after = step.apply(m, SPEC)
                for n in (0, 1, 5):
                    assert_same(m, after, {"n": n, "m": 0})


def test_a_while_loop_keeps_an_array_alive() -> None:
    m = module(
        "alloc x: i32[8i32] local\nalloc t: i32[] local\nt[] = 0i32\nwhile (t[]:i32 < 3i32) {\n  for i: i32 in 0i32..8i32 step 1i32 {\n"
        "    if (t[]:i32 == 0i32) {\n      x[i:i32] = A[i:i32]:i32\n    }\n    x[i:i32] = (x[i:i32]:i32 + 1i32)\n"
        "    C[i:i32] = x[i:i32]:i32\n  }\n"
        "  t[] = (t[]:i32 + 1i32)\n}",
        INTS,
    )
    everything_preserves(m)
    assert "loop" in refusal(LoopContraction("x"), m)


def test_an_index_that_wraps_is_shared_between_iterations() -> None:
    m = module(
        "alloc x: i32[256i32] local\nfor i: i32 in 0i32..300i32 step 1i32 {\n  if (i:i32 < 256i32) {\n"
        "    x[cast<u8>(i:i32)] = i:i32\n  }\n"
        "  C[(i:i32 % 64i32)] = x[cast<u8>(i:i32)]:i32\n}",
        INTS,
    )
    assert not LoopContraction("x").check(m, SPEC)


# ----------------------------------------------------------------------------------------------- what does not run, must not

SPECULATION = [
    # a load that is the same in all lanes, under a condition that differs between them
    "for x: i32 in 0i32..20i32 step 1i32 {\n  if (x:i32 < n:i32) {\n    C[x:i32] = A[(n:i32 - 1i32)]:f32\n  }\n}",
    "for x: i32 in 0i32..20i32 step 1i32 {\n  if (A[x:i32]:f32 > 100.0f32) {\n    C[x:i32] = A[(n:i32 + 64i32)]:f32\n  }\n}",
    "for x: i32 in 0i32..20i32 step 1i32 {\n  C[x:i32] = select((A[x:i32]:f32 > 100.0f32), A[(n:i32 + 64i32)]:f32, 1.0f32)\n}",
    # a definition of an index under a condition
    "for x: i32 in 0i32..40i32 step 1i32 {\n  if ((x:i32 * 2i32) < 60i32) {\n    let j = I[(x:i32 * 2i32)]:i32\n"
    "    C[x:i32] = A[j:i32]:f32\n  }\n}",
    "for x: i32 in 0i32..40i32 step 1i32 {\n  if (A[x:i32]:f32 > 0.0f32) {\n    let j = (I[x:i32]:i32 + 3i32)\n"
    "    C[x:i32] = (A[j:i32]:f32 * cast<f32>(j:i32))\n  }\n}",
    # an inner loop under a condition, with a bound that loads
    "for x: i32 in 0i32..40i32 step 1i32 {\n  alloc s: f32[] local\n  s[] = 0.0f32\n  if ((x:i32 + 30i32) < 64i32) {\n"
    "    for k: i32 in 0i32..I[(x:i32 + 30i32)]:i32 step 1i32 {\n      s[] = (s[]:f32 + A[k:i32]:f32)\n    }\n  }\n"
    "  C[x:i32] = s[]:f32\n}",
    # an accumulation under a condition
    "alloc s: f32[] local\ns[] = 0.0f32\nfor x: i32 in 0i32..37i32 step 1i32 {\n  if (A[x:i32]:f32 > 0.0f32) {\n"
    "    s[] = (s[]:f32 + A[x:i32]:f32)\n  }\n}\nC[0i32] = s[]:f32",
    # a conditional private value that another part of the body reads
    "for x: i32 in 0i32..37i32 step 1i32 {\n  alloc s: f32[] local\n  s[] = 1.0f32\n  if (A[x:i32]:f32 > 0.0f32) {\n"
    "    s[] = A[x:i32]:f32\n  } else {\n"
    "    if (A[x:i32]:f32 < -1.0f32) {\n      s[] = 3.0f32\n    }\n  }\n  C[x:i32] = s[]:f32\n}",
    # a private value written again, uniform at first
    "for x: i32 in 0i32..37i32 step 1i32 {\n  alloc s: f32[] local\n  s[] = 1.0f32\n  for k: i32 in 0i32..3i32 step 1i32 {\n"
    "    C[((k:i32 * 20i32) + (x:i32 / 2i32))] = s[]:f32\n"
    "    s[] = A[x:i32]:f32\n  }\n}",
    # backwards
    "for x: i32 in 0i32..37i32 step 1i32 {\n  C[(40i32 - x:i32)] = A[(50i32 - x:i32)]:f32\n}",
    # a store that overtakes a load in the vector
    "for x: i32 in 0i32..37i32 step 1i32 {\n  C[x:i32] = (C[(x:i32 + 1i32)]:f32 + 1.0f32)\n}",
    "for x: i32 in 0i32..37i32 step 1i32 {\n  C[x:i32] = (C[(36i32 - x:i32)]:f32 + 1.0f32)\n}",
    "for x: i32 in 0i32..16i32 step 1i32 {\n  C[(x:i32 + 16i32)] = (C[x:i32]:f32 + 1.0f32)\n}",
    # a definition that loads what a later statement of the iteration changes
    "for x: i32 in 0i32..37i32 step 1i32 {\n  let t = C[x:i32]:f32\n  C[x:i32] = A[x:i32]:f32\n  C[x:i32] = (C[x:i32]:f32 - t:f32)\n}",
    # a private integer that bounds a loop
    "for x: i32 in 0i32..37i32 step 1i32 {\n  alloc h: i32[] local\n  h[] = (x:i32 % 5i32)\n  alloc s: f32[] local\n  s[] = 0.0f32\n"
    "  for k: i32 in 0i32..h[]:i32 step 1i32 {\n    s[] = (s[]:f32 + A[k:i32]:f32)\n    h[] = 0i32\n  }\n  C[x:i32] = s[]:f32\n}",
    # an early end of an inner loop that does not depend on the lane
    "for x: i32 in 0i32..37i32 step 1i32 {\n  alloc s: f32[] local\n  s[] = 0.0f32\n  for k: i32 in 0i32..9i32 step 1i32 {\n"
    "    if (k:i32 > n:i32) {\n      break\n    }\n"
    "    s[] = (s[]:f32 + A[(k:i32 + x:i32)]:f32)\n  }\n  C[x:i32] = s[]:f32\n}",
    # the same inside a lane-dependent condition
    "for x: i32 in 0i32..37i32 step 1i32 {\n  alloc s: f32[] local\n  s[] = 0.0f32\n  for k: i32 in 0i32..9i32 step 1i32 {\n"
    "    if (A[(k:i32 + x:i32)]:f32 < 0.0f32) {\n      continue\n    }\n"
    "    s[] = (s[]:f32 + A[(k:i32 + x:i32)]:f32)\n  }\n  C[x:i32] = s[]:f32\n}",
    # a continue of the loop itself
    "for x: i32 in 0i32..37i32 step 1i32 {\n  if (n:i32 > 5i32) {\n    continue\n  }\n  C[x:i32] = 5.0f32\n}",
    # a private array of which some lanes are never written
    "for x: i32 in 0i32..5i32 step 1i32 {\n  alloc t: f32[2i32] local\n  t[0i32] = A[x:i32]:f32\n"
    "  C[x:i32] = select((t[0i32]:f32 < 0.0f32), t[0i32]:f32, 1.0f32)\n}",
    "for x: i32 in 0i32..37i32 step 1i32 {\n  alloc t: f32[2i32] local\n  if (A[x:i32]:f32 > 0.0f32) {\n    t[0i32] = A[x:i32]:f32\n"
    "    C[x:i32] = select((t[0i32]:f32 < 1.0f32), t[0i32]:f32, 1.0f32)\n  }\n}",
    # negative counts
    "for x: i32 in m:i32..n:i32 step 1i32 {\n  C[(x:i32 + 3i32)] = A[(x:i32 + 3i32)]:f32\n}",
]


@pytest.mark.parametrize("body", SPECULATION, ids=range(len(SPECULATION)))
def test_lanes_and_iterations_that_do_not_run_have_no_effect(body: str) -> None:
    everything_preserves(module(body, FLOATS))


def test_lanes_that_go_through_an_array_one_by_one_stay_apart() -> None:
    m = module(
        "alloc v: f32[16i32] local\nv[0i32] = A[8i32]:f32x16\nfor i: i32 in 0i32..16i32 step 1i32 {\n  C[(i:i32 * 2i32)] = v[i:i32]:f32\n}",
        FLOATS,
    )
    everything_preserves(m)


def test_a_long_step_may_lead_past_the_end_of_int() -> None:
    body = "for i: i64 in 0i64..cast<i64>({hi}) step 256i64 {{\n  if (i:i64 < 20i64) {{\n    C[i:i64] = 1i32\n  }}\n}}"
    near, far = (Simplify().apply(module(body.format(hi=hi), INTS), SPEC) for hi in ("min(n:i32, 1000i32)", "n:i32"))
    assert [s.dtype.value for s in (*near.body, *far.body) if isinstance(s, For)] == ["i32", "i64"]


def test_fusing_multiplies_counts_that_may_be_negative() -> None:
    m = module(
        "for i: i32 in 0i32..n:i32 step 1i32 {\n  for j: i32 in 0i32..2i32 step 1i32 {\n    C[((j:i32 * 30i32) + i:i32)] = 1i32\n  }\n}",
        INTS,
    )
    everything_preserves(m)


def test_an_inner_bound_that_divides_is_not_evaluated_where_nothing_runs() -> None:
    m = module(
        "for i: i32 in 0i32..n:i32 step 1i32 {\n  for j: i32 in 0i32..(m:i32 / n:i32) step 1i32 {\n"
        "    C[((j:i32 * n:i32) + i:i32)] = 1i32\n  }\n}",
        INTS,
    )
    everything_preserves(m)


def test_a_guard_that_divides_is_not_evaluated_where_nothing_runs() -> None:
    m = module("for i: i32 in 0i32..m:i32 step 1i32 {\n  if ((20i32 / n:i32) > 0i32) {\n    C[i:i32] = 1i32\n  }\n}", INTS)
    everything_preserves(m)
