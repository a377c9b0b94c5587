import pytest

from synth.ir.dtypes import Vec
from synth.ir.grammar import Alloc, For, Load, Math, Module, Reduce, Select, Store
from synth.ir.text import print_module
from synth.ir.traversal import all_exprs, loops, walk
from synth.passes.contract_fma import ContractFma
from synth.passes.simplify import Simplify
from synth.passes.vectorize import Vectorize
from tests.synth.passes.programs import BUFFERS, SPEC, applied, assert_same, module, refusal

WITH_N = f"{BUFFERS}, n: i32"


def over(body: str, hi: str = "48i32", params: str = WITH_N) -> Module:
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    return module(f"for x: i32 in 0i32..{hi} step 1i32 {{\n{lines}\n}}", params)


def lanes_of(m: Module) -> set[int]:
    return {e.type.lanes for e in all_exprs(m.body) if isinstance(e.type, Vec)}


def masked(m: Module) -> int:
    return sum(1 for s in walk(m.body) if isinstance(s, Store) and s.mask is not None)


def test_contiguous_accesses_become_vector_loads_and_stores() -> None:
    after = applied(Vectorize("x", 16), over("C[x:i32] = (A[x:i32]:f32 + B[(x:i32 + 3i32)]:f32)"))
    assert list(loops(after)) == ["x"]
    assert "in 0i32..48i32 step 16i32" in print_module(after)
    assert lanes_of(after) == {16} and masked(after) == 0


@pytest.mark.parametrize("hi", ["37i32", "5i32", "16i32", "n:i32"])
@pytest.mark.parametrize("n", [0, 1, 15, 16, 33])
def test_the_remainder_runs_under_a_mask(hi: str, n: int) -> None:
    m = over("C[x:i32] = (A[x:i32]:f32 * 2.0f32)", hi)
    after = Simplify().apply(Vectorize("x", 16).apply(m, SPEC), SPEC)
    assert_same(m, after, {"n": n})
    assert masked(after) == (0 if hi == "16i32" else 1)


GEMM = (
    "alloc acc: f32[] local\nacc[] = 0.0f32\nfor k: i32 in 0i32..4i32 step 1i32 {\n"
    "  acc[] = (acc[]:f32 + (A[k:i32]:f32 * B[((k:i32 * 16i32) + x:i32)]:f32))\n}\nC[x:i32] = acc[]:f32"
)


def test_an_outer_loop_keeps_its_inner_loop_around_vector_registers() -> None:
    after = applied(ContractFma(), applied(Vectorize("x", 16), over(GEMM, "16i32")))
    (acc,) = [s for s in walk(after.body) if isinstance(s, Alloc)]
    assert acc.dtype == Vec(acc.dtype.dtype, 16) and acc.shape == ()  # type: ignore[union-attr]
    text = print_module(after)
    assert "math.fma<f32x16>(broadcast<16>(A[k:i32]:f32), B[((k:i32 * 16i32) + x:i32)]:f32x16, acc[]:f32x16)" in text


def test_an_inner_loop_over_vectors_has_no_lanes_of_its_own() -> None:
    inner = "for.simd k: i32 in 0i32..5i32 step 1i32 {\n  acc[] = (acc[]:f32 + A[(x:i32 + k:i32)]:f32)\n}"
    after = applied(Vectorize("x", 16), over(f"alloc acc: f32[] local\nacc[] = 0.0f32\n{inner}\nC[x:i32] = acc[]:f32"))
    assert [loop.axis for loop in loops(after).values()] == [None, None]


def test_registers_of_the_remainder_need_no_masks() -> None:
    after = applied(Vectorize("x", 16), over(GEMM, "13i32"))
    assert not any(isinstance(e, Select) for e in all_exprs(after.body))
    assert masked(after) == 1


@pytest.mark.parametrize(("op", "start"), [("+", "0.0f32"), ("max", "-3.0f32"), ("min", "3.0f32")])
def test_a_reduction_is_folded_once_at_the_end(op: str, start: str) -> None:
    update = "(s[]:f32 + A[x:i32]:f32)" if op == "+" else f"{op}(s[]:f32, A[x:i32]:f32)"
    m = module(f"alloc s: f32[] local\ns[] = {start}\nfor x: i32 in 0i32..37i32 step 1i32 {{\n  s[] = {update}\n}}\nC[0i32] = s[]:f32")
    step = Vectorize("x", 16)
    verdict = step.check(m, SPEC)
    assert verdict and verdict.assuming == (("reals",) if op == "+" else ())  # type: ignore[union-attr]
    after = applied(step, m)
    assert sum(isinstance(e, Reduce) for e in all_exprs(after.body)) == 1


def test_accumulators_of_a_nest_are_folded_after_the_whole_nest() -> None:
    m = module(
        "alloc s: f32[] local\ns[] = 0.0f32\nfor i: i32 in 0i32..3i32 step 1i32 {\n  for x: i32 in 0i32..16i32 step 1i32 {\n"
        "    s[] = (s[]:f32 + A[((i:i32 * 16i32) + x:i32)]:f32)\n  }\n}\nC[0i32] = s[]:f32"
    )
    after = applied(Vectorize("x", 16), m)
    outer = next(s for s in after.body if isinstance(s, For))
    assert not any(isinstance(e, Reduce) for e in all_exprs((outer,)))


def test_conditions_become_masks() -> None:
    m = over("if (A[x:i32]:f32 > 0.0f32) {\n  C[x:i32] = A[x:i32]:f32\n} else {\n  C[x:i32] = B[x:i32]:f32\n}")
    assert masked(applied(Vectorize("x", 16), m)) == 2


def test_inner_loops_with_bounds_that_differ_between_lanes() -> None:
    m = over(
        "alloc s: f32[] local\ns[] = 0.0f32\nfor k: i32 in 0i32..(x:i32 + 1i32) step 1i32 {\n  s[] = (s[]:f32 + A[k:i32]:f32)\n}\n"
        "C[x:i32] = s[]:f32",
        "21i32",
    )
    after = applied(Vectorize("x", 16), m)
    assert any(isinstance(e, Reduce) and e.op == "max" for e in all_exprs(after.body))


def test_strided_loads_are_gathered_and_stores_scattered() -> None:
    after = applied(Vectorize("x", 4), over("C[(x:i32 * 3i32)] = A[(x:i32 * 2i32)]:f32", "8i32"))
    assert sum(1 for s in walk(after.body) if isinstance(s, Store)) == 4


def test_small_private_arrays_get_the_lanes_as_last_dimension() -> None:
    m = over("alloc t: f32[2i32] local\nt[0i32] = A[x:i32]:f32\nt[1i32] = B[x:i32]:f32\nC[x:i32] = (t[0i32]:f32 * t[1i32]:f32)", "16i32")
    after = applied(Vectorize("x", 16), m)
    (t,) = [s for s in walk(after.body) if isinstance(s, Alloc)]
    assert len(t.shape) == 2


def test_functions_and_conversions_on_vectors() -> None:
    params = "A: i32[64i64] host in const, C: f32[64i64] host out, n: i32"
    m = over("C[x:i32] = math.sqrt<f32>(math.abs<f32>(cast<f32>(A[x:i32]:i32)))", params=params)
    after = applied(Vectorize("x", 16), m)
    assert all(isinstance(e.type, Vec) for e in all_exprs(after.body) if isinstance(e, Math))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("C[(x:i32 + 1i32)] = C[x:i32]:f32", "same element of 'C'"),
        ("C[0i32] = A[x:i32]:f32", "same element of 'C'"),
        ("C[0i32] = (C[0i32]:f32 + A[x:i32]:f32)", "accumulated in memory"),
        ("if (A[x:i32]:f32 > 0.0f32) {\n  break\n}\nC[x:i32] = 1.0f32", "breaks"),
    ],
)
def test_refusals_name_what_is_in_the_way(body: str, words: str) -> None:
    assert words in refusal(Vectorize("x", 16), over(body))


def test_lanes_must_fill_a_register() -> None:
    assert "fill" in refusal(Vectorize("x", 3), over("C[x:i32] = A[x:i32]:f32"))
    assert "no loop 'y'" in refusal(Vectorize("y", 16), over("C[x:i32] = A[x:i32]:f32"))


def test_lanes_follow_the_widest_element() -> None:
    params = "A: f64[64i64] host in const, C: f64[64i64] host out, n: i32"
    m = over("C[x:i32] = A[x:i32]:f64", params=params)
    assert [s.lanes for s in Vectorize.space(m, SPEC)] == [8, 4]
    assert lanes_of(applied(Vectorize("x", 8), m)) == {8}


def test_loads_under_conditions_stay_under_them() -> None:
    m = over("C[x:i32] = select((x:i32 < 60i32), A[(x:i32 + 4i32)]:f32, 0.0f32)", "64i32")
    after = applied(Vectorize("x", 16), m)
    assert all(e.mask is not None for e in all_exprs(after.body) if isinstance(e, Load) and e.buf.name == "A")
