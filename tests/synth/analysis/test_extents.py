from dataclasses import replace

import pytest

from synth.analysis.extents import complete_params, overestimated
from synth.ir.grammar import Role
from synth.ir.printer import print_expr
from tests.synth.passes.programs import module

PARAMS = "A: f32[64i64] host in const, I: i32[64i64] host in const, C: f32[64i64] host unknown, n: i32"


def role(body: str) -> Role:
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    m = module(f"for i: i32 in 0i32..n:i32 step 1i32 {{\n{lines}\n}}", PARAMS)
    return complete_params(m).params[2].role


@pytest.mark.parametrize(
    "body",
    [
        "if (A[i:i32]:f32 > 0.0f32) {\n  C[i:i32] = 1.0f32\n}",
        "if (I[i:i32]:i32 > 0i32) {\n  C[i:i32] = 1.0f32\n}",
        "let v = A[i:i32]:f32\nlet p = (v:f32 > 0.0f32)\nif p:bool {\n  C[i:i32] = 1.0f32\n}",
        "if (A[i:i32]:f32 > 0.0f32) {\n  continue\n}\nC[i:i32] = 1.0f32",
        "for k: i32 in 0i32..I[i:i32]:i32 step 1i32 {\n  C[k:i32] = 1.0f32\n}",
        "C[I[i:i32]:i32] = 1.0f32",
    ],
)
def test_what_data_may_leave_unwritten_goes_in_and_out(body: str) -> None:
    assert role(body) is Role.INOUT


@pytest.mark.parametrize("body", ["C[i:i32] = A[i:i32]:f32", "if (i:i32 < 9i32) {\n  C[i:i32] = 1.0f32\n}"])
def test_what_indexes_decide_is_written(body: str) -> None:
    assert role(body) is Role.OUT


LEADING = "(vec(0i32, 1i32, 2i32, 3i32) < broadcast<4>((n:i32 - i:i32)))"


@pytest.mark.parametrize(
    ("mask", "extent", "certain"), [(LEADING, "cast<i64>(n:i32)", True), (f"({LEADING} ^ {LEADING})", "(3i64 + cast<i64>(n:i32))", False)]
)
def test_lanes_that_a_mask_leaves_out_are_not_accessed_where_the_mask_is_understood(mask: str, extent: str, certain: bool) -> None:
    body = f"for i: i32 in 0i32..n:i32 step 4i32 {{\n  let m = {mask}\n  C[i:i32]@m:boolx4 = broadcast<4>(1.0f32)\n}}"
    m = module(body, "C: f32[] host unknown, n: i32")
    m = replace(m, params=(replace(m.params[0], shape=()), m.params[1]))
    assert (overestimated(m) == frozenset()) is certain
    assert print_expr(complete_params(m).params[0].shape[0]) == extent
