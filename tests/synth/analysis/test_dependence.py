import pytest

from synth.analysis.dependence import can_interchange, independent_iterations
from tests.synth.analysis.programs import in_loop, loop, module


@pytest.mark.parametrize(
    ("body", "independent"),
    [
        ("C[i:i32] = A[i:i32]:f32", True),
        ("C[(i:i32 + 1i32)] = A[i:i32]:f32", True),
        ("C[0i32] = A[i:i32]:f32", False),
        ("C[(i:i32 / 2i32)] = A[i:i32]:f32", False),
        ("C[(i:i32 * 2i32)] = A[i:i32]:f32", True),
        ("C[i:i32] = C[(i:i32 + 1i32)]:f32", False),
        ("C[(i:i32 * 2i32)] = C[((i:i32 * 2i32) + 1i32)]:f32", True),
        ("C[(i:i32 % 8i32)] = A[i:i32]:f32", False),
    ],
)
def test_iterations_that_touch_one_element_are_dependent(body: str, independent: bool) -> None:
    m = in_loop(body)
    assert bool(independent_iterations(m, loop(m, "i"))) is independent


def test_a_private_buffer_is_fresh_in_every_iteration() -> None:
    m = in_loop("alloc x: f32[] local\nx[] = A[i:i32]:f32\nC[i:i32] = x[]:f32")
    assert independent_iterations(m, loop(m, "i"))


def test_accumulation_into_a_scalar_is_a_reduction() -> None:
    m = module(
        "module m(A: f32[n:i32] host in, C: f32[1i64] host out, n: i32) dialect=c {\n  alloc s: f32[] local\n  s[] = 0.0f32\n"
        "  for i: i32 in 0i32..n:i32 step 1i32 {\n    s[] = (s[]:f32 + A[i:i32]:f32)\n  }\n  C[0i32] = s[]:f32\n}\n"
    )
    proof = independent_iterations(m, loop(m, "i"))
    assert proof and [(buf.name, op) for buf, op in proof.reductions] == [("s", "add")]


def test_a_scan_is_no_reduction() -> None:
    m = module(
        "module m(A: f32[n:i32] host in, C: f32[n:i32] host out, n: i32) dialect=c {\n  alloc s: f32[] local\n  s[] = 0.0f32\n"
        "  for i: i32 in 0i32..n:i32 step 1i32 {\n    s[] = (s[]:f32 + A[i:i32]:f32)\n    C[i:i32] = s[]:f32\n  }\n}\n"
    )
    proof = independent_iterations(m, loop(m, "i"))
    assert not proof and "'s'" in proof.reason


def test_a_loop_that_is_left_early_is_dependent() -> None:
    m = in_loop("C[i:i32] = A[i:i32]:f32\nbreak")
    assert "breaks" in independent_iterations(m, loop(m, "i")).reason


def nest(index: str, guard: str = "true") -> str:
    return (
        "module m(A: f32[n:i32] host in, C: f32[n:i32] host out, n: i32, N: i32) dialect=c assume [(N:i32 >= 0i32)] {\n"
        "  for r: i32 in 0i32..n:i32 step 1i32 {\n    for c: i32 in 0i32..64i32 step 1i32 {\n"
        f"      if {guard} {{\n        C[{index}] = A[c:i32]:f32\n      }}\n    }}\n  }}\n}}\n"
    )


def test_rows_of_a_symbolic_width_are_apart_when_the_column_is_guarded() -> None:
    m = module(nest("((r:i32 * N:i32) + c:i32)", "(c:i32 < N:i32)"))
    assert independent_iterations(m, loop(m, "r")) and independent_iterations(m, loop(m, "c"))


def test_without_the_guard_they_may_overlap() -> None:
    m = module(nest("((r:i32 * N:i32) + c:i32)"))
    assert not independent_iterations(m, loop(m, "r"))


def test_literal_widths_need_room_for_the_column() -> None:
    for width, apart in ((64, True), (63, False), (100, True)):
        m = module(nest(f"((r:i32 * {width}i32) + c:i32)"))
        assert bool(independent_iterations(m, loop(m, "r"))) is apart
    m = module(nest("((r:i32 * 50i32) + c:i32)", "(c:i32 < 50i32)"))
    assert independent_iterations(m, loop(m, "r"))


def test_interchange_needs_independent_outer_iterations() -> None:
    good = module(nest("((r:i32 * 64i32) + c:i32)").replace("      if true {\n", "").replace("      }\n    }\n", "    }\n", 1))
    assert can_interchange(good, loop(good, "r"), loop(good, "c"))
    bad = module(nest("c:i32").replace("      if true {\n", "").replace("      }\n    }\n", "    }\n", 1))
    assert not can_interchange(bad, loop(bad, "r"), loop(bad, "c"))
