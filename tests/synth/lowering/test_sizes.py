"""Extents of parameters that pointers walk along."""

from __future__ import annotations

import pytest

from synth.errors import UnsupportedError
from synth.frontend import read
from synth.ir.builder import int_value
from synth.lowering.sizes import complete_sizes
from synth.source import ReadOptions, Source
from tests.synth.passes.programs import SPEC

WALKS = {
    "nested": "for (int i = 0; i < 7; i++) { float s = 0; const float *v = B; for (int k = 0; k < 5; k++) s += *A++ * *v++; *C++ = s; }",
    "two steps": """const float *a = A;
      for (int i = 0; i < 7; ++i, a += 2) { float s = 0; for (int k = 0; k < 3; ++k, ++a) s += *a * B[k + 2]; C[i] = s; }""",
    "while": "const float *end = A + 35; int k = 0; while (A < end) { C[k++ % 7] = *A++ + B[4]; }",
    "copy": "for (int i = 0; i < 7; ++i) { memcpy(C + i, A + 5 * i, sizeof(float) * (i / 6 * 4 + 1)); } C[0] = B[4];",
}


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_extents_of_walked_arrays(walk: str) -> None:
    text = f"#include <string.h>\nvoid f(const float *A, const float *B, float *C) {{ {WALKS[walk]} }}"
    found = complete_sizes(read(Source(text, "vnni", "f.c"), ReadOptions()).module, SPEC)
    extents = {p.sym.name: int_value((p.shape or ())[0]) for p in found.params}
    assert extents["A"] in range(33, 36) and extents["B"] == 5
    assert extents["C"] is not None and extents["C"] >= 7


def test_steps_that_data_decides_are_refused() -> None:
    text = "void f(const float *A, float *C) { for (int i = 0; i < 9; i++) { if (*A > 0) A++; C[i] = *A; } }"
    with pytest.raises(UnsupportedError, match="extent of parameter 'A'"):
        complete_sizes(read(Source(text, "vnni", "f.c"), ReadOptions()).module, SPEC)
