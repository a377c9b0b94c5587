"""Translations to GPUs as a user asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import xpiler
from synth.errors import UnsupportedError

MASKED = """#include <immintrin.h>
void f(const float* x, float* y, int n) {
  for (int i = 0; i < n; i += 16) {
    const __mmask16 live = n - i >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, live, _mm512_maskz_loadu_ps(live, x + i));
  }
}
"""


def test_a_copy_that_might_go_beyond_the_callers_memory_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(MASKED)
    with pytest.raises(UnsupportedError, match="extent of parameter 'x' is not certain") as caught:
        xpiler.translate(tmp_path / "f.c", to="cuda")
    assert "--extent x=EXPR" in caught.value.hint
