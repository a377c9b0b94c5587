"""The Python API: typed results, called as often as one likes."""

from __future__ import annotations

from pathlib import Path

import xpiler

GEMM = Path(__file__).parent / "samples" / "gemm.cu"


def test_translate_and_verify_are_functions_however_often_they_are_called(tmp_path: Path) -> None:
    first, second = (xpiler.translate(GEMM, to="vnni") for _ in range(2))
    assert first.ok and first.output == second.output and first.evidence.shows(first.required)
    (tmp_path / "gemm.c").write_text(first.output or "")
    assert all(xpiler.verify(GEMM, tmp_path / "gemm.c").ok for _ in range(2))
