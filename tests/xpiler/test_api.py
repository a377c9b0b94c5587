"""The Python API: typed results, called as often as one likes."""

from __future__ import annotations

from pathlib import Path

import xpiler
from synth.source import ReadOptions

GEMM = Path(__file__).parent / "samples" / "gemm.cu"


def test_translate_and_verify_are_functions_however_often_they_are_called(tmp_path: Path) -> None:
    first, second = (xpiler.translate(GEMM, to="vnni") for _ in range(2))
    assert first.ok and first.output == second.output and first.evidence.shows(first.required)
    (tmp_path / "gemm.c").write_text(first.output or "")
    assert all(xpiler.verify(GEMM, tmp_path / "gemm.c").ok for _ in range(2))


def test_what_the_second_program_does_not_say_of_its_arrays_is_what_the_first_says(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("""
        __global__ void k(const int* at, const float* x, float* y) { y[threadIdx.x] = x[at[threadIdx.x]]; }
        extern "C" void gather(const int* at, const float* x, float* y) {
          int* da; float *dx, *dy;
          cudaMalloc(&da, 32 * 4); cudaMalloc(&dx, 64 * 4); cudaMalloc(&dy, 32 * 4);
          cudaMemcpy(da, at, 32 * 4, cudaMemcpyHostToDevice); cudaMemcpy(dx, x, 64 * 4, cudaMemcpyHostToDevice);
          k<<<1, 32>>>(da, dx, dy);
          cudaMemcpy(y, dy, 32 * 4, cudaMemcpyDeviceToHost);
        }""")
    text = "void gather(const int* at, const float* x, float* y) { for (int i = 0; i < 32; ++i) y[i] = x[at[i]] * FACTOR; }"
    for factor, ok in (("1.0f", True), ("1.5f", False)):
        (tmp_path / "b.c").write_text(text.replace("FACTOR", factor))
        read = ReadOptions(values={"at": tuple(range(0, 64, 2))})
        assert xpiler.verify(tmp_path / "a.cu", tmp_path / "b.c", read=read).ok is ok
