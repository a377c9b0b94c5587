"""Temporaries that are declared outside of the loop that uses them."""

from __future__ import annotations

import pytest

from synth.ir.grammar import Alloc, For
from synth.ir.traversal import walk
from synth.passes.privatize import Privatize
from tests.synth.passes.gpu.programs import agree, bound, c_module, refused

PRIVATE = {
    "scalar": "float t; for (int i = 0; i < 30; i++) { t = A[i] * 2; C[i] = t * t; }",
    "accumulator": "float t; for (int i = 0; i < 5; i++) { t = 0; for (int k = 0; k < 6; k++) t += A[i * 6 + k]; C[i] = t; }",
    "both branches": "float t; for (int i = 0; i < 30; i++) { if (A[i] > 0) t = 1; else t = 2; C[i] = t; }",
    "array": "float t[4]; for (int i = 0; i < 9; i++) { for (int k = 0; k < 4; k++) t[k] = A[i + k]; C[i] = t[0] + t[i % 4]; }",
    "matrix": "float t[3][4]; for (int i = 0; i < 9; i++) { for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) t[j][k] = A[i + j + k];"
    " C[i] = t[2][3] + t[i % 3][1]; }",
    "used again": "float t; for (int i = 0; i < 9; i++) { t = A[i]; C[i] = t; } t = 3; C[9] = t;",
    "used by another loop": "float t; for (int i = 0; i < 9; i++) { t = A[i]; C[i] = t; } for (int j = 9; j < 20; j++) {"
    " t = A[j]; C[j] = t + 1; }",
    "heap": "float* t = (float*)malloc(4 * sizeof(float)); for (int i = 0; i < 9; i++) { for (int k = 0; k < 4; k++) t[k] = A[i + k];"
    " C[i] = t[0] + t[3]; } free(t);",
    "part of an array": "float t[8]; for (int i = 1; i < 9; i++) { for (int k = 0; k < i; k++) t[k] = A[k];"
    " float s = 0; for (int k = 0; k < i; k++) s += t[k]; C[i] = s; }",
}
SHARED = {
    "carried": "float t = 0; for (int i = 0; i < 30; i++) { C[i] = t; t = A[i]; }",
    "one branch": "float t = 0; for (int i = 0; i < 30; i++) { if (A[i] > 0) t = 1; C[i] = t; }",
    "last value": "float t = 0; for (int i = 0; i < 30; i++) { t = A[i]; C[i] = t; } C[40] = t;",
    "last value in the next round": "float t = 0; for (int r = 0; r < 3; r++) { C[50 + r] = t; for (int i = 0; i < 9; i++) {"
    " t = A[i]; C[i] = t; } }",
    "last value after a break": "float t = 0; for (int r = 0; r < 3; r++) { for (int i = 0; i < 9; i++) { t = A[i]; C[i] = t; }"
    " if (A[r] > 0) break; t = 0; } C[50] = t;",
    "may not run": "float t[4]; for (int k = 0; k < 4; k++) t[k] = 0; for (int i = 0; i < 9; i++) { for (int k = 0; k < i;"
    " k++) t[k] = A[k];"
    " C[i] = t[0]; }",
    "not all of an array": "float t[4]; for (int k = 0; k < 4; k++) t[k] = 0; for (int i = 0; i < 9; i++) { for (int k = 0; k < 3; k++)"
    " t[k] = A[i + k]; C[i] = t[3]; }",
    "read first": "float t[4]; for (int k = 0; k < 4; k++) t[k] = 0; for (int i = 0; i < 9; i++) { for (int k = 0; k < 4; k++)"
    " { C[i] = t[3 - k]; t[k] = A[i + k]; } }",
    "reduction": "float t = 0; for (int i = 0; i < 9; i++) t += A[i]; C[0] = t;",
}


@pytest.mark.parametrize("name", PRIVATE)
def test_what_an_iteration_writes_first_is_its_own(name: str) -> None:
    m = c_module(f"void f(const float* A, float* C) {{ {PRIVATE[name]} }}")
    after = bound(m, "privatize{buf=t, loop=i}")
    agree(m, after)
    loop = next(s for s in walk(after.body) if isinstance(s, For) and s.sym.name == "i")
    assert any(isinstance(s, Alloc) and s.sym.name == "t" for s in loop.body)
    agree(m, bound(after, "loop_bind{x=(i), threads_x=32} | device_buffers | simplify"))


@pytest.mark.parametrize("name", SHARED)
def test_what_passes_between_iterations_stays_outside(name: str) -> None:
    m = c_module(f"void f(const float* A, float* C) {{ {SHARED[name]} }}")
    assert "may read what another" in (why := refused(Privatize("t", "i"), m)) or "may be read after" in why


def test_a_product_of_negative_counts_writes_nothing() -> None:
    m = c_module(
        "void f(const float* A, float* C, int a, int b) { float t[64]; for (int k = 0; k < 64; k++) t[k] = 0;"
        " for (int i = 0; i < 9; i++) { for (int j = 0; j < a; j++) for (int k = 0; k < b; k++) t[j * b + k] = A[i];"
        " if (a * b > 3) C[i] = t[3]; } }"
    )
    assert "may read what another" in refused(Privatize("t", "i"), m)
