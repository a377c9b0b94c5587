import pytest

from synth.ir.grammar import Alloc, For
from synth.ir.text import print_module
from synth.ir.traversal import walk
from synth.passes.jam import Jam
from synth.passes.promote import Promote
from synth.passes.simplify import Simplify
from tests.synth.passes.programs import BUFFERS, SPEC, applied, assert_same, module, refusal

WITH_N = f"{BUFFERS}, n: i32"
ROWS = (
    "for i: i32 in 0i32..{hi} step 1i32 {{\n  alloc x: f32[] local\n  x[] = 0.0f32\n  for k: i32 in 0i32..5i32 step 1i32 {{\n"
    "    x[] = (x[]:f32 + (A[((i:i32 * 5i32) + k:i32)]:f32 * B[k:i32]:f32))\n  }}\n  C[i:i32] = x[]:f32\n}}"
)


@pytest.mark.parametrize("factor", [2, 4, 8])
@pytest.mark.parametrize("hi", ["8i32", "11i32", "n:i32"])
def test_iterations_run_together_and_the_rest_alone(factor: int, hi: str) -> None:
    m = module(ROWS.format(hi=hi), WITH_N)
    after = Simplify().apply(Jam("i", factor).apply(m, SPEC), SPEC)
    for n in (0, 1, 7, 9):
        assert_same(m, after, {"n": n})


def test_inner_loops_are_shared_and_private_buffers_are_not() -> None:
    after = applied(Jam("i", 4), module(ROWS.format(hi="8i32"), WITH_N))
    assert sum(isinstance(s, For) for s in walk(after.body)) == 2
    assert sum(isinstance(s, Alloc) for s in walk(after.body)) == 4


def test_jam_refuses_dependences_and_exits() -> None:
    carried = ROWS.replace("C[i:i32] = x[]:f32", "C[(i:i32 + 1i32)] = (x[]:f32 + C[i:i32]:f32)")
    assert "same element" in refusal(Jam("i", 2), module(carried.format(hi="8i32"), WITH_N))
    leaves = ROWS.replace("    x[] = (x", "    if (B[k:i32]:f32 > A[i:i32]:f32) {{\n      break\n    }}\n    x[] = (x")
    assert "early" in refusal(Jam("i", 2), module(leaves.format(hi="8i32"), WITH_N))
    assert "no inner loop" in refusal(Jam("k", 2), module(ROWS.format(hi="8i32"), WITH_N))
    assert "too many" in refusal(Jam("i", 99), module(ROWS.format(hi="8i32"), WITH_N))


def test_triangular_inner_loops_are_not_shared() -> None:
    m = module(
        "for i: i32 in 0i32..6i32 step 1i32 {\n  for k: i32 in 0i32..(i:i32 + 1i32) step 1i32 {\n"
        "    C[((i:i32 * 6i32) + k:i32)] = A[k:i32]:f32\n  }\n}"
    )
    after = applied(Jam("i", 2), m)
    assert sum(isinstance(s, For) for s in walk(after.body)) == 3


MEMORY = "for i: i32 in 0i32..8i32 step 1i32 {{\n  for k: i32 in 0i32..{hi} step 1i32 {{\n    {body}\n  }}\n}}"
UPDATE = "C[i:i32] = (C[i:i32]:f32 + A[((i:i32 * 5i32) + k:i32)]:f32)"


def test_an_element_is_kept_in_a_register() -> None:
    m = module(MEMORY.format(hi="5i32", body=UPDATE), WITH_N)
    (step,) = Promote.space(m, SPEC)
    assert step == Promote("k", "C")
    after = applied(step, m)
    inner = next(s for s in walk(after.body) if isinstance(s, For) and s.sym.name == "k")
    assert "C.value[] = (C.value[]:f32 + A" in print_module(after)
    assert not any("C[" in line for line in print_module(after).splitlines() if line.startswith("      ")) and inner.body


@pytest.mark.parametrize(
    ("hi", "body", "words"),
    [
        ("n:i32", UPDATE, "may not run"),
        ("5i32", "C[k:i32] = (C[k:i32]:f32 + A[k:i32]:f32)", "changes with the loop"),
        ("5i32", "C[i:i32] = (C[(i:i32 + 1i32)]:f32 + A[k:i32]:f32)", "more than one element"),
        ("5i32", f"if (A[k:i32]:f32 > 0.0f32) {{\n      {UPDATE}\n    }}", "may not access"),
        ("5i32", "C[i:i32] = A[k:i32]:f32", "reads and writes"),
    ],
)
def test_what_may_not_be_accessed_by_the_loop_is_not_promoted(hi: str, body: str, words: str) -> None:
    assert words in refusal(Promote("k", "C"), module(MEMORY.format(hi=hi, body=body), WITH_N))
