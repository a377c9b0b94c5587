import pytest

from synth.analysis.dependence import (
    can_distribute,
    can_fuse_adjacent,
    can_interchange,
    independent_iterations,
    loop_dependences,
)
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


def perfect(statement: str, inner: str = "0i32..64i32") -> str:
    return (
        "module m(A: f32[64i32] host in, C: f32[8192i32] host inout, n: i32) dialect=c {\n"
        f"  for r: i32 in 1i32..60i32 step 1i32 {{\n    for c: i32 in {inner} step 1i32 {{\n      {statement}\n    }}\n  }}\n}}\n"
    )


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("C[((r:i32 * 64i32) + c:i32)] = A[c:i32]:f32", ""),
        ("C[c:i32] = A[c:i32]:f32", ""),
        ("C[((r:i32 * 64i32) + c:i32)] = C[(((r:i32 - 1i32) * 64i32) + c:i32)]:f32", ""),
        ("C[((r:i32 * 100i32) + c:i32)] = C[((((r:i32 - 1i32) * 100i32) + c:i32) + 1i32)]:f32", "would be reversed"),
        ("C[(r:i32 + c:i32)] = A[c:i32]:f32", "would be reversed"),
        ("C[0i32] = (C[0i32]:f32 + A[c:i32]:f32)", ""),
        ("break", "breaks"),
    ],
)
def test_interchange_must_not_reverse_the_order_of_accesses_to_one_element(statement: str, reason: str) -> None:
    m = module(perfect(statement))
    proof = can_interchange(m, loop(m, "r"), loop(m, "c"))
    assert bool(proof) is not bool(reason) and reason in proof.reason


def test_interchange_needs_a_rectangle() -> None:
    m = module(perfect("C[((r:i32 * 64i32) + c:i32)] = A[c:i32]:f32", "0i32..r:i32"))
    assert "depend on 'r'" in can_interchange(m, loop(m, "r"), loop(m, "c")).reason


def sequence(first: str, second: str, bound: str = "n:i32", between: str = "") -> str:
    head = "module m(A: f32[n:i32] host in, B: f32[n:i32] host inout, C: f32[n:i32] host inout, n: i32) dialect=c {\n"
    return head + (
        f"  for i: i32 in 1i32..n:i32 step 1i32 {{\n    {first}\n  }}\n{between}"
        f"  for j: i32 in 1i32..{bound} step 1i32 {{\n    {second}\n  }}\n}}\n"
    )


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("B[i:i32] = A[i:i32]:f32", "C[j:i32] = B[j:i32]:f32", ""),
        ("B[i:i32] = A[i:i32]:f32", "C[j:i32] = B[(j:i32 - 1i32)]:f32", ""),
        ("B[i:i32] = A[i:i32]:f32", "C[j:i32] = B[(j:i32 + 1i32)]:f32", "may need 'B'"),
        ("B[i:i32] = C[i:i32]:f32", "C[j:i32] = A[j:i32]:f32", ""),
        ("B[i:i32] = C[(i:i32 - 1i32)]:f32", "C[j:i32] = A[j:i32]:f32", "may need 'C'"),
        ("B[i:i32] = A[i:i32]:f32\n    break", "C[j:i32] = A[j:i32]:f32", "breaks"),
    ],
)
def test_fusing_two_loops_must_not_bring_an_access_before_one_it_follows(first: str, second: str, reason: str) -> None:
    m = module(sequence(first, second))
    proof = can_fuse_adjacent(m, loop(m, "i"), loop(m, "j"))
    assert bool(proof) is not bool(reason) and reason in proof.reason


def test_loops_to_fuse_run_over_the_same_values_one_after_the_other() -> None:
    m = module(sequence("B[i:i32] = A[i:i32]:f32", "C[j:i32] = A[j:i32]:f32", "(n:i32 - 1i32)"))
    assert "same values" in can_fuse_adjacent(m, loop(m, "i"), loop(m, "j")).reason
    m = module(sequence("B[i:i32] = A[i:i32]:f32", "C[j:i32] = A[j:i32]:f32", between="  B[0i32] = 1.0f32\n"))
    assert "directly" in can_fuse_adjacent(m, loop(m, "i"), loop(m, "j")).reason


TWO = "A: f32[n:i32] host in, B: f32[n:i32] host inout, C: f32[n:i32] host inout, n: i32"


@pytest.mark.parametrize(
    ("body", "cut", "reason"),
    [
        ("B[i:i32] = A[i:i32]:f32\nC[i:i32] = B[i:i32]:f32", 1, ""),
        ("B[i:i32] = C[(i:i32 - 1i32)]:f32\nC[i:i32] = A[i:i32]:f32", 1, "may need 'C'"),
        ("B[i:i32] = C[(i:i32 + 1i32)]:f32\nC[i:i32] = A[i:i32]:f32", 1, ""),
        ("alloc x: f32[] local\nx[] = A[i:i32]:f32\nC[i:i32] = x[]:f32", 2, "private buffer"),
        ("let v = B[i:i32]:f32\nB[i:i32] = 0.0f32\nC[i:i32] = v:f32", 2, "loaded from changing memory"),
        ("let v = A[i:i32]:f32\nB[i:i32] = 0.0f32\nC[i:i32] = v:f32", 2, ""),
        ("if (A[i:i32]:f32 < 0.0f32) {\ncontinue\n}\nC[i:i32] = 1.0f32", 1, "skips the rest"),
    ],
)
def test_distribution_keeps_later_halves_after_the_earlier_ones_they_follow(body: str, cut: int, reason: str) -> None:
    m = in_loop(body, TWO)
    proof = can_distribute(m, loop(m, "i"), cut)
    assert bool(proof) is not bool(reason) and reason in proof.reason


def test_dependences_are_listed_with_their_kind() -> None:
    m = in_loop("C[i:i32] = C[(i:i32 + 1i32)]:f32\nB[0i32] = A[i:i32]:f32", TWO)
    found = loop_dependences(m, loop(m, "i"))
    assert [(d.buf.name, d.kind) for d in found] == [("B", "output"), ("C", "flow or anti")]


def test_bounds_that_the_body_changes_make_iterations_dependent() -> None:
    m = module(
        "module m(C: f32[n:i32] host out, n: i32) dialect=c {\n  alloc k: i32[] local\n  k[] = 4i32\n"
        "  for i: i32 in 0i32..k[]:i32 step 1i32 {\n    k[] = 0i32\n    C[i:i32] = 1.0f32\n  }\n}\n"
    )
    assert "bounds of 'i'" in independent_iterations(m, loop(m, "i")).reason
