"""Comparisons as extrema."""

import pytest

from synth.ir.grammar import Module
from synth.ir.text import print_module
from synth.passes.base import Legal
from synth.passes.extremum import Extremum
from tests.synth.passes.programs import SPEC, applied, module, refusal

CHOICES = [
    ("if (C[0i32]:f32 < A[i:i32]:f32) {\n    C[0i32] = A[i:i32]:f32\n  }", "max"),
    ("if (A[i:i32]:f32 < C[0i32]:f32) {\n    C[0i32] = A[i:i32]:f32\n  }", "min"),
    ("if (C[0i32]:f32 >= A[i:i32]:f32) {\n    C[0i32] = A[i:i32]:f32\n  }", "min"),
    ("C[i:i32] = select((A[i:i32]:f32 > B[i:i32]:f32), A[i:i32]:f32, B[i:i32]:f32)", "max"),
    ("C[i:i32] = select((A[i:i32]:f32 > B[i:i32]:f32), B[i:i32]:f32, A[i:i32]:f32)", "min"),
]


@pytest.mark.parametrize(("text", "op"), CHOICES)
def test_the_chosen_number_is_an_extremum(text: str, op: str) -> None:
    m = module(f"for i: i32 in 0i32..40i32 step 1i32 {{\n  {text}\n}}")
    assert Extremum().check(m, SPEC) == Legal(("reals",))
    assert f"{op}(" in shown(applied(Extremum(), m))


OTHERS = [
    "if (C[0i32]:f32 < A[i:i32]:f32) {\n    C[0i32] = B[i:i32]:f32\n  }",
    "if (C[0i32]:f32 < A[i:i32]:f32) {\n    C[1i32] = A[i:i32]:f32\n  }",
    "if (C[0i32]:f32 < A[i:i32]:f32) {\n    C[0i32] = A[i:i32]:f32\n    C[1i32] = 1.0f32\n  }",
    "C[i:i32] = select((A[i:i32]:f32 == B[i:i32]:f32), A[i:i32]:f32, B[i:i32]:f32)",
]


@pytest.mark.parametrize("text", OTHERS)
def test_other_choices_stay(text: str) -> None:
    assert "no comparison" in refusal(Extremum(), module(f"for i: i32 in 0i32..40i32 step 1i32 {{\n  {text}\n}}"))


def shown(m: Module) -> str:
    return print_module(m)
