import pytest

from synth.ir.grammar import Alloc, Axis, For, If, Let, Module
from synth.ir.text import print_module
from synth.ir.traversal import find_alloc, find_loop, loops, walk
from synth.passes.base import Legal
from synth.passes.loop_contraction import LoopContraction
from synth.passes.loop_distribute import LoopDistribute
from synth.passes.loop_expansion import LoopExpansion
from synth.passes.loop_fuse import LoopFuse
from synth.passes.loop_reorder import LoopReorder
from synth.passes.loop_split import LoopSplit
from synth.passes.parallelize import Parallelize
from synth.passes.simd import Simd
from synth.passes.simplify import Simplify
from synth.passes.unroll import Unroll
from tests.synth.passes.programs import BUFFERS, SPEC, applied, assert_same, module, refusal

WITH_N = f"{BUFFERS}, n: i32"


def copy(hi: str = "37i32") -> Module:
    return module(f"for i: i32 in 0i32..{hi} step 1i32 {{\n  C[i:i32] = A[i:i32]:f32\n}}", WITH_N)


def nest(body: str, outer: str = "8i32", inner: str = "8i32", params: str = BUFFERS) -> Module:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return module(f"for i: i32 in 0i32..{outer} step 1i32 {{\n  for j: i32 in 0i32..{inner} step 1i32 {{\n{lines}\n  }}\n}}", params)


# ------------------------------------------------------------------------------------------------------------- split


@pytest.mark.parametrize("tail", ["bound", "guard", "loop"])
@pytest.mark.parametrize("factor", [2, 8, 37, 64])
def test_split_keeps_all_iterations(tail: str, factor: int) -> None:
    after = applied(LoopSplit("i", factor, tail), copy())
    assert {"i.outer", "i.inner"} <= {s.sym.name for s in walk(after.body) if isinstance(s, For)}


@pytest.mark.parametrize("tail", ["bound", "guard", "loop"])
def test_split_of_a_symbolic_loop_for_several_counts(tail: str) -> None:
    m = copy("n:i32")
    after = LoopSplit("i", 8, tail).apply(m, SPEC)
    for n in (0, 1, 7, 8, 9, 64):
        assert_same(m, after, {"n": n})


def test_split_without_remainder_has_no_tail() -> None:
    after = applied(LoopSplit("i", 8), copy("32i32"))
    assert not any(isinstance(s, If) for s in walk(after.body))
    assert "min" not in print_module(after)
    assert [s.sym.name for s in walk(after.body) if isinstance(s, For)] == ["i.outer", "i.inner"]


def test_split_takes_the_names_of_quotient_and_remainder() -> None:
    m = module(
        "for idx: i32 in 0i32..24i32 step 1i32 {\n  let c = (idx:i32 % 8i32)\n  let h = (idx:i32 / 8i32)\n"
        "  C[((h:i32 * 8i32) + c:i32)] = A[c:i32]:f32\n}"
    )
    after = Simplify().apply(applied(LoopSplit("idx", 8), m), SPEC)
    assert list(loops(after)) == ["h", "c"]


def test_split_refuses_what_is_left_by_break_and_unknown_tails() -> None:
    m = module("for i: i32 in 0i32..37i32 step 1i32 {\n  if (i:i32 > 3i32) {\n    break\n  }\n  C[i:i32] = 1.0f32\n}")
    assert "break" in refusal(LoopSplit("i", 8), m)
    assert "no way to end" in refusal(LoopSplit("i", 8, "half"), copy())
    assert "no loop 'k'" in refusal(LoopSplit("k", 8), copy())
    assert "no factor" in refusal(LoopSplit("i", 1), copy())


# -------------------------------------------------------------------------------------------------------------- fuse


def test_fuse_of_a_sum_is_one_loop_named_like_the_sum() -> None:
    m = nest("let col = ((i:i32 * 8i32) + j:i32)\nC[col:i32] = A[col:i32]:f32")
    after = Simplify().apply(applied(LoopFuse("i", "j"), m), SPEC)
    assert list(loops(after)) == ["col"]
    assert "for col: i32 in 0i32..64i32 step 1i32 {\n    C[col:i32] = A[col:i32]:f32" in print_module(after)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 64])
def test_fuse_of_blocks_and_threads_with_a_bound_that_cuts_the_last_block(n: int) -> None:
    m = nest(
        "C[((i:i32 * 16i32) + j:i32)] = (A[((i:i32 * 16i32) + j:i32)]:f32 + 1.0f32)",
        "((n:i32 + 15i32) / 16i32)",
        "min(16i32, (n:i32 - (i:i32 * 16i32)))",
        WITH_N,
    )
    step = LoopFuse("i", "j")
    assert step.check(m, SPEC)
    after = Simplify().apply(step.apply(m, SPEC), SPEC)
    assert_same(m, after, {"n": n})
    (loop,) = loops(after).values()
    assert "in 0i32..n:i32 step" in print_module(after)
    assert loop.step == find_loop(m, "j").step  # type: ignore[union-attr]


def test_fuse_divides_where_the_loops_are_used_apart() -> None:
    m = nest("C[((j:i32 * 8i32) + i:i32)] = A[((i:i32 * 8i32) + j:i32)]:f32")
    after = applied(LoopFuse("i", "j"), m)
    assert list(loops(after)) == ["i.j"]
    assert [s.sym.name for s in walk(after.body) if isinstance(s, Let)] == ["i", "j"]


def test_fuse_refuses_other_statements_between_the_loops() -> None:
    m = module(
        "for i: i32 in 0i32..8i32 step 1i32 {\n  C[i:i32] = 0.0f32\n  for j: i32 in 0i32..8i32 step 1i32 {\n"
        "    C[((i:i32 * 8i32) + j:i32)] = 1.0f32\n  }\n}"
    )
    assert "between the loops" in refusal(LoopFuse("i", "j"), m)
    assert "literal" in refusal(LoopFuse("i", "j"), nest("C[j:i32] = A[i:i32]:f32", inner="n:i32", params=WITH_N))


# ----------------------------------------------------------------------------------------------------------- reorder


def test_reorder_interchanges() -> None:
    m = nest("C[((i:i32 * 8i32) + j:i32)] = A[((j:i32 * 8i32) + i:i32)]:f32")
    after = applied(LoopReorder("i", "j"), m)
    assert list(loops(after)) == ["j", "i"]


def test_reorder_takes_definitions_between_the_loops_along() -> None:
    m = module(
        "for i: i32 in 0i32..8i32 step 1i32 {\n  let r = (i:i32 * 8i32)\n  for j: i32 in 0i32..8i32 step 1i32 {\n"
        "    C[(r:i32 + j:i32)] = 1.0f32\n  }\n}"
    )
    assert list(loops(applied(LoopReorder("i", "j"), m))) == ["j", "i"]


def test_reorder_refuses_a_dependence_and_triangular_bounds() -> None:
    skewed = nest("C[((i:i32 + j:i32) % 64i32)] = (C[((i:i32 + (j:i32 * 2i32)) % 64i32)]:f32 + 1.0f32)")
    assert refusal(LoopReorder("i", "j"), skewed)
    assert "depend" in refusal(LoopReorder("i", "j"), nest("C[((i:i32 * 8i32) + j:i32)] = 1.0f32", inner="i:i32"))


def test_reorder_that_keeps_the_order_at_each_element_is_exact() -> None:
    m = nest("C[j:i32] = (C[j:i32]:f32 + A[((i:i32 * 8i32) + j:i32)]:f32)")
    verdict = LoopReorder("i", "j").check(m, SPEC)
    assert verdict == Legal()


# ------------------------------------------------------------------------------------- distribute, expand, contract


def test_distribute_cuts_the_body() -> None:
    m = module(
        "for i: i32 in 0i32..32i32 step 1i32 {\n  let t = (i:i32 * 2i32)\n  C[t:i32] = A[i:i32]:f32\n  C[(t:i32 + 1i32)] = B[i:i32]:f32\n}"
    )
    after = applied(LoopDistribute("i", 2), m)
    assert len(loops(after)) == 2


def test_distribute_refuses_when_the_second_part_feeds_the_first() -> None:
    m = module("for i: i32 in 0i32..31i32 step 1i32 {\n  C[i:i32] = (C[i:i32]:f32 + 1.0f32)\n  C[(i:i32 + 1i32)] = B[i:i32]:f32\n}")
    assert "same element" in refusal(LoopDistribute("i", 1), m)


PRIVATE = "for i: i32 in 0i32..32i32 step 1i32 {\n  alloc x: f32[] local\n  x[] = A[i:i32]:f32\n  C[i:i32] = (x[]:f32 * x[]:f32)\n}"


def test_expansion_and_contraction_undo_each_other() -> None:
    m = module(PRIVATE)
    wide = applied(LoopExpansion("x", "i"), m)
    array = find_alloc(wide, "x")
    assert array is not None and len(array.shape) == 1 and wide.body[0] is array
    narrow = applied(LoopContraction("x"), wide)
    assert print_module(narrow) == print_module(m)


def test_expansion_allows_distribution() -> None:
    wide = applied(LoopExpansion("x", "i"), module(PRIVATE))
    assert len(loops(applied(LoopDistribute("i", 1), wide))) == 2


def test_contraction_refuses_values_that_cross_iterations() -> None:
    m = module(
        "alloc x: f32[64i32] local\nfor k: i32 in 0i32..64i32 step 1i32 {\n  x[k:i32] = A[k:i32]:f32\n}\n"
        "for i: i32 in 0i32..63i32 step 1i32 {\n  C[i:i32] = x[(i:i32 + 1i32)]:f32\n}"
    )
    assert "more than one loop" in refusal(LoopContraction("x"), m)


def test_unroll_repeats_the_body() -> None:
    after = applied(Unroll("i"), copy("4i32"))
    assert len(after.body) == 4 and not loops(after)
    assert "too long" in refusal(Unroll("i"), copy())
    assert "literal count" in refusal(Unroll("i"), copy("n:i32"))


# ---------------------------------------------------------------------------------------------------------- binding


def test_parallelize_binds_a_nest_and_sinks_definitions() -> None:
    m = module(
        "for i: i32 in 0i32..8i32 step 1i32 {\n  let r = (i:i32 * 8i32)\n  for j: i32 in 0i32..8i32 step 1i32 {\n"
        "    C[(r:i32 + j:i32)] = 1.0f32\n  }\n}"
    )
    after = applied(Parallelize("j"), applied(Parallelize("i"), m))
    outer = after.body[0]
    assert isinstance(outer, For) and outer.axis is Axis.OMP and len(outer.body) == 1
    assert isinstance(outer.body[0], For) and outer.body[0].axis is Axis.OMP


def test_parallelize_keeps_private_buffers_private() -> None:
    after = applied(Parallelize("i"), module(PRIVATE))
    assert isinstance(after.body[0], For) and isinstance(after.body[0].body[0], Alloc)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("C[(i:i32 + 1i32)] = C[i:i32]:f32", "same element of 'C'"),
        ("C[0i32] = A[i:i32]:f32", "same element of 'C'"),
        ("C[0i32] = (C[0i32]:f32 + A[i:i32]:f32)", "accumulate"),
    ],
)
def test_parallelize_refuses_carried_dependences(body: str, words: str) -> None:
    m = module(f"for i: i32 in 0i32..32i32 step 1i32 {{\n  {body}\n}}")
    assert words in refusal(Parallelize("i"), m)


def test_parallelize_refuses_a_loop_inside_a_serial_one() -> None:
    m = nest("C[((i:i32 * 8i32) + j:i32)] = 1.0f32")
    assert "serial loop" in refusal(Parallelize("j"), m)


def test_simd_marks_an_innermost_loop() -> None:
    after = applied(Simd("i"), copy())
    assert isinstance(after.body[0], For) and after.body[0].axis is Axis.SIMD
    assert "innermost" in refusal(Simd("i"), nest("C[((i:i32 * 8i32) + j:i32)] = 1.0f32"))
