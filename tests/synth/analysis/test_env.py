"""What is known at places of programs with mutable variables, and when it is forgotten."""

import pytest

from synth.analysis.linear import entry_env, env_at, following, module_env, step_into
from synth.analysis.mutable import scalar_values, tracked_scalars
from synth.analysis.ranges import Range, preserves_value, range_of
from synth.analysis.solver import prove
from synth.ir.builder import i32, lt, var
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Binary, Cast, Expr, For, If, Load, Module, Store, Sym, While
from synth.ir.traversal import sites, walk
from tests.synth.analysis.programs import module

I32 = DType.I32


def program(body: str) -> Module:
    lines = "\n".join("  " + line for line in body.strip().splitlines())
    return module(f"module m(C: i32[64i64] host inout, n: i32) dialect=c assume [(n:i32 <= 60i32)] {{\n{lines}\n}}\n")


def cell(m: Module, name: str) -> Load:
    return Load(sites(m)[name], (), I32)


HALVING = """
alloc h: i32[] local
h[] = 32i32
while (h[]:i32 > 0i32) {
  C[h[]:i32] = 1i32
  h[] = (h[]:i32 / 2i32)
}
"""
DOUBLING = HALVING.replace("= 32i32", "= 1i32").replace("> 0i32", "< 50i32").replace("/ 2i32", "* 2i32")
COUNTING = HALVING.replace("= 32i32", "= 0i32").replace("> 0i32", "< n:i32").replace("/ 2i32", "+ 4i32")


@pytest.mark.parametrize(("text", "expected"), [(HALVING, Range(0, 32)), (DOUBLING, Range(1, 98)), (COUNTING, Range(0, 63))])
def test_intervals_of_variables_over_all_assignments(text: str, expected: Range) -> None:
    m = program(text)
    assert range_of(cell(m, "h"), module_env(m)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [(HALVING, (0, 1, 2, 4, 8, 16, 32)), (DOUBLING, (1, 2, 4, 8, 16, 32, 64)), (COUNTING, None)],
)
def test_variables_with_few_values(text: str, expected: tuple[int, ...] | None) -> None:
    m = program(text)
    assert scalar_values(m.body, tracked_scalars(m.body)).get(sites(m)["h"]) == expected


def test_a_condition_holds_until_the_next_assignment() -> None:
    m = program(
        "alloc x: i32[] local\nx[] = n:i32\nif (x[]:i32 < 10i32) {\n  C[0i32] = 1i32\n  x[] = (x[]:i32 + 5i32)\n  C[1i32] = 2i32\n}"
    )
    branch = next(s for s in walk(m.body) if isinstance(s, If))
    x = cell(m, "x")
    env = step_into(env_at(m, branch, tracking=True), branch, 0)
    assert range_of(x, env).hi == 9 and prove(env, lt(var(sites(m)["n"]), i32(10)))
    for stmt in branch.then[:2]:
        env = following(env, stmt)
    assert not prove(env, lt(x, i32(10))) and prove(env, lt(x, i32(15)))
    assert not prove(module_env(m), lt(x, i32(15)))


def test_what_a_loop_changes_is_forgotten_in_it() -> None:
    m = program("alloc x: i32[] local\nx[] = 3i32\nfor i: i32 in 0i32..4i32 step 1i32 {\n  C[i:i32] = x[]:i32\n  x[] = n:i32\n}")
    loop = next(s for s in walk(m.body) if isinstance(s, For))
    before = env_at(m, loop, tracking=True)
    three = Binary("eq", cell(m, "x"), i32(3))
    assert prove(before, three) and not prove(step_into(before, loop, 0), three)


def test_a_bound_that_changes_in_the_loop_says_nothing_about_its_present_value() -> None:
    m = program("alloc x: i32[] local\nx[] = n:i32\nfor i: i32 in 0i32..x[]:i32 step 1i32 {\n  x[] = 0i32\n  C[i:i32] = 1i32\n}")
    loop = next(s for s in walk(m.body) if isinstance(s, For))
    for env in (env_at(m, loop).with_loop(loop), env_at(m, loop, tracking=True).with_loop(loop)):
        assert not prove(env, lt(var(loop.sym), cell(m, "x")))
        assert prove(env, lt(var(loop.sym), i32(60)))


def test_a_loop_steps_its_variables_together() -> None:
    m = program(
        "alloc k: i32[] local\nk[] = 5i32\nalloc p: i32[] local\np[] = n:i32\nwhile (k[]:i32 > 0i32) {\n  C[p[]:i32] = 1i32\n"
        "  p[] = (p[]:i32 + 3i32)\n  k[] = (k[]:i32 - 1i32)\n}"
    )
    loop = next(s for s in walk(m.body) if isinstance(s, While))
    env = step_into(env_at(m, loop, tracking=True), loop, 0)
    p, n = cell(m, "p"), var(sites(m)["n"])
    assert prove(env, Binary("le", p, Binary("add", n, i32(12)))) and not prove(env, Binary("le", p, Binary("add", n, i32(11))))


def test_a_loop_that_may_skip_a_step_does_not() -> None:
    m = program(
        "alloc k: i32[] local\nk[] = 5i32\nalloc p: i32[] local\np[] = 0i32\nwhile (k[]:i32 > 0i32) {\n  k[] = (k[]:i32 - 1i32)\n"
        "  if (C[k[]:i32]:i32 > 0i32) {\n    continue\n  }\n  p[] = (p[]:i32 + 3i32)\n}"
    )
    loop = next(s for s in walk(m.body) if isinstance(s, While))
    env = step_into(env_at(m, loop, tracking=True), loop, 0)
    sum_ = Binary("add", cell(m, "p"), Binary("mul", i32(3), cell(m, "k")))
    assert not prove(env, Binary("eq", sum_, i32(15)))


def test_signed_arithmetic_that_was_evaluated_did_not_overflow() -> None:
    m = program("let g = (n:i32 - 2147483600i32)\nC[0i32] = g:i32")
    env = following(module_env(m), m.body[0])
    assert range_of(var(sites(m)["n"]), env).lo == I32.min_int + 2147483600


def test_casts_that_keep_the_value() -> None:
    m = program("for i: i32 in 0i32..n:i32 step 1i32 {\n  C[i:i32] = 1i32\n}")
    loop = next(s for s in walk(m.body) if isinstance(s, For))
    env = entry_env(m).with_loop(loop)
    i: Expr = var(loop.sym)
    assert preserves_value(Cast(i, DType.U8), env) and preserves_value(Cast(i, DType.U32), env)
    assert not preserves_value(Cast(Binary("sub", i, i32(1)), DType.U32), env)
    inside = env.with_fact(Binary("gt", i, i32(0)))
    assert preserves_value(Cast(Binary("sub", i, i32(1)), DType.U32), inside)


def test_arrays_and_variables_that_calls_write_are_not_tracked() -> None:
    m = program("alloc x: i32[] local\nx[] = 1i32\nalloc y: i32[4i32] local\ny[0i32] = 1i32\nC[x[]:i32] = y[0i32]:i32")
    allocs: dict[str, Sym] = {s.sym.name: s.sym for s in walk(m.body) if isinstance(s, Alloc)}
    assert tracked_scalars(m.body) == {allocs["x"]}
    assert any(isinstance(s, Store) for s in m.body)
