import pytest

from synth.ir.grammar import Module
from synth.ir.text import print_module
from synth.passes.simplify import Simplify
from tests.synth.passes.programs import BUFFERS, SPEC, assert_same, module

PARAMS = f"{BUFFERS}, n: i32, m: i32"


def simple(body: str, sizes: tuple[tuple[int, int], ...] = ((0, 0), (7, 3), (20, 21))) -> str:
    """The statements of the simplified body, which computes the same for these ``n, m``."""
    before = module(body, PARAMS)
    after = Simplify().apply(before, SPEC)
    for n, m in sizes:
        assert_same(before, after, {"n": n, "m": m})
    return statements(after)


def statements(m: Module) -> str:
    return "\n".join(line[2:] for line in print_module(m).splitlines()[1:-1])


@pytest.mark.parametrize(
    ("expression", "simplified"),
    [
        ("((3i32 * 4i32) + 5i32)", "17i32"),
        ("(((3i32 * 8i32) + 5i32) / 8i32)", "3i32"),
        ("(((3i32 * 8i32) + 5i32) % 8i32)", "5i32"),
        ("min(3i32, 4i32)", "3i32"),
        ("cast<i32>(((cast<u32>(3i32) * 256u32) + 7u32))", "7i32"),
    ],
)
def test_constants_fold(expression: str, simplified: str) -> None:
    text = simple(f"C[{expression if 'u32' not in expression else '7i32'}] = 1.0f32")
    assert f"C[{simplified}] = 1.0f32" in text


@pytest.mark.parametrize(
    "expression", ["(0.0f32 + A[0i32]:f32)", "(0.0f32 * A[0i32]:f32)", "(A[0i32]:f32 - A[0i32]:f32)", "(A[0i32]:f32 / 3.0f32)"]
)
def test_floats_are_left_alone_where_rounding_signs_or_nans_matter(expression: str) -> None:
    assert expression in simple(f"C[0i32] = {expression}")


def test_unsigned_index_arithmetic_reads_as_int() -> None:
    text = simple(
        "for bx: u32 in 0u32..4u32 step 1u32 {\n  for tx: u32 in 0u32..16u32 step 1u32 {\n"
        "    let i = cast<i32>(((bx:u32 * 16u32) + tx:u32))\n    C[i:i32] = A[i:i32]:f32\n  }\n}"
    )
    assert "let i = ((bx:i32 * 16i32) + tx:i32)" in text
    assert "u32" not in text


def test_guards_become_bounds() -> None:
    text = simple("for i: i32 in 0i32..32i32 step 1i32 {\n  if (i:i32 < n:i32) {\n    C[i:i32] = 1.0f32\n  }\n}")
    assert "if" not in text and "min(32i32, n:i32)" in text


def test_guards_that_do_not_depend_on_the_loop_leave_it_and_bound_the_outer_one() -> None:
    text = simple(
        "for r: i32 in 0i32..8i32 step 1i32 {\n  for c: i32 in 0i32..8i32 step 1i32 {\n"
        "    if ((r:i32 < 5i32) && (c:i32 < 6i32)) {\n      C[((r:i32 * 8i32) + c:i32)] = 1.0f32\n    }\n  }\n}"
    )
    assert "for r: i32 in 0i32..5i32" in text and "for c: i32 in 0i32..6i32" in text and "if" not in text


def test_a_guard_that_loads_stays_where_it_is() -> None:
    text = simple("for r: i32 in 0i32..n:i32 step 1i32 {\n  if (A[63i32]:f32 > 0.0f32) {\n    C[r:i32] = 1.0f32\n  }\n}")
    assert text.index("for r") < text.index("if")


def test_negated_conditions_are_pushed_inwards() -> None:
    text = simple("if !(((n:i32 >= 5i32) || (m:i32 >= 6i32))) {\n  C[0i32] = 1.0f32\n}")
    assert "if ((n:i32 < 5i32) && (m:i32 < 6i32))" in text


def test_guards_that_always_hold_or_never_do_disappear() -> None:
    text = simple(
        "for i: i32 in 0i32..8i32 step 1i32 {\n  if (i:i32 < 9i32) {\n    C[i:i32] = 1.0f32\n  }\n"
        "  if (i:i32 > 8i32) {\n    C[i:i32] = 2.0f32\n  }\n}"
    )
    assert "if" not in text and "2.0f32" not in text


def test_loops_of_one_and_of_no_iteration() -> None:
    text = simple(
        "for i: i32 in 3i32..4i32 step 1i32 {\n  C[i:i32] = 1.0f32\n}\nfor j: i32 in 3i32..3i32 step 1i32 {\n  C[j:i32] = 2.0f32\n}"
    )
    assert text == "C[3i32] = 1.0f32"


def test_a_loop_of_one_iteration_that_breaks_stays() -> None:
    text = simple("for i: i32 in 0i32..1i32 step 1i32 {\n  if (n:i32 > 3i32) {\n    break\n  }\n  C[i:i32] = 1.0f32\n}")
    assert "for i" in text


def test_dead_definitions_buffers_and_stores_go() -> None:
    text = simple("let x = (n:i32 * 2i32)\nalloc t: f32[8i32] local\nt[0i32] = A[0i32]:f32\nC[0i32] = 1.0f32")
    assert text == "C[0i32] = 1.0f32"


def test_nested_conditions_are_one() -> None:
    text = simple("if (n:i32 > 3i32) {\n  if (m:i32 > 3i32) {\n    C[0i32] = 1.0f32\n  }\n}")
    assert text.count("if") == 1


def test_it_proposes_itself_only_where_it_changes_something() -> None:
    m = Simplify().apply(module("for i: i32 in 0i32..8i32 step 1i32 {\n  if (i:i32 < 5i32) {\n    C[i:i32] = 1.0f32\n  }\n}"), SPEC)
    assert Simplify.space(m, SPEC) == ()


def test_operands_have_one_order() -> None:
    one = simple("C[0i32] = ((A[0i32]:f32 * 2.0f32) + max(B[1i32]:f32, A[1i32]:f32))")
    two = simple("C[0i32] = (max(A[1i32]:f32, B[1i32]:f32) + (2.0f32 * A[0i32]:f32))")
    assert one == two


def test_comparisons_of_floats_have_one_direction() -> None:
    one = simple("if (A[0i32]:f32 > B[0i32]:f32) {\n  C[0i32] = 1.0f32\n}")
    two = simple("if (B[0i32]:f32 < A[0i32]:f32) {\n  C[0i32] = 1.0f32\n}")
    assert one == two


def test_loops_over_threads_take_the_name_of_the_variable() -> None:
    text = simple("for tx: i32 in 0i32..8i32 step 1i32 {\n  let row = (tx:i32 + 0i32)\n  C[row:i32] = 1.0f32\n}")
    assert "for row: i32" in text
