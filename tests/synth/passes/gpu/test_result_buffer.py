"""Outputs of which nothing is kept, and such of which something may be."""

from __future__ import annotations

import pytest

from synth.passes.result_buffer import ResultBuffer
from tests.synth.passes.gpu.programs import agree, bound, c_module, refused

SIGNATURE = "void f(const float* A, float* C, int n)"
WHOLE = {
    "one loop": "for (int i = 0; i < n; i++) C[i] = A[i];",
    "a nest": "for (int i = 0; i < n; i++) for (int j = 0; j < 7; j++) C[i * 7 + j] = A[i];",
    "free sizes": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i * n + j] = A[i];",
    "rows in stages": "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < 7; j++) { C[i * 7 + j] = A[i * 7 + j];"
    " s += C[i * 7 + j]; }"
    " for (int j = 0; j < 7; j++) C[i * 7 + j] /= s + 50; }",
    "piece by piece": "C[0] = 1; for (int i = 1; i < 9; i++) C[i] = C[0] + A[i]; for (int i = 9; i < 12; i++) C[i] = 0;",
    "two at a time": "for (int i = 0; i < 12; i += 2) { C[i] = A[i]; C[i + 1] = 0; }",
    "both branches": "for (int i = 0; i < n; i++) { if (A[i] > 0) C[i] = 1; else C[i] = A[i]; }",
}
PART = {
    "a condition": "for (int i = 0; i < 9; i++) if (A[i] > 0) C[i] = 1;",
    "every other": "for (int i = 0; i < 9; i++) C[2 * i] = A[i];",
    "but the first": "for (int i = 1; i < 9; i++) C[i] = A[i];",
    "read before": "for (int i = 0; i < 9; i++) C[i] = C[i] + A[i];",
    "read ahead": "for (int i = 0; i < 9; i++) { C[i] = A[i]; if (i < 8) C[i] = C[i + 1]; }",
    "an early end": "if (A[0] > 0) return; for (int i = 0; i < 9; i++) C[i] = A[i];",
    "a loop that is left": "for (int i = 0; i < 9; i++) { if (A[i] > 0) break; C[i] = A[i]; }",
    "columns": "for (int j = 0; j < 3; j++) for (int i = 0; i < 4; i++) C[i * 3 + j] = A[i];",
    "of n elements n * n": "for (int i = 0; i < n; i++) C[i] = A[i]; if (n > 900) C[n * n] = 1;",
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_computed_wholly_has_its_own_memory(name: str) -> None:
    m = c_module(f"{SIGNATURE} {{ {WHOLE[name]} }}")
    after = bound(m, "result_buffer{buf=C}")
    for n in (0, 1, 5):
        agree(m, after, {"n": n})
    assert refused(ResultBuffer("C"), after)


@pytest.mark.parametrize("name", PART)
def test_what_the_caller_left_may_be_kept(name: str) -> None:
    assert "may keep elements" in refused(ResultBuffer("C"), c_module(f"{SIGNATURE} {{ {PART[name]} }}"))
