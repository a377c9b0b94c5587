"""Tiles of arrays in shared memory."""

from __future__ import annotations

import pytest

from synth.analysis.races import check_races
from synth.ir.grammar import Alloc, Module, Space, Sync
from synth.ir.traversal import walk
from synth.passes.cache import Cache
from tests.synth.passes.gpu.programs import GPU, agree, bound, c_module, refused

GEMM = (
    "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float s = 0; for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];"
    " C[i * N + j] = s; }"
)


def f(text: str, **sizes: int) -> Module:
    for name, value in sizes.items():
        text = text.replace(name, str(value))
    return c_module(f"void f(const float* A, const float* B, float* C, int m, int n, int l) {{ {text} }}")


STAGED = {
    "gemm": (
        GEMM.replace("M", "10").replace("N", "19").replace("K", "21"),
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(A; B)",
    ),
    "whole tiles": (
        GEMM.replace("M", "8").replace("N", "16").replace("K", "32"),
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(A; B)",
    ),
    "free sizes": (
        GEMM.replace("M", "m").replace("N", "n").replace("K", "l"),
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(A; B)",
    ),
    "one of two": (
        GEMM.replace("M", "10").replace("N", "19").replace("K", "21"),
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(B)",
    ),
    "transposed": (
        GEMM.replace("B[k * N + j]", "B[j * K + k]").replace("M", "10").replace("N", "19").replace("K", "21"),
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(A; B)",
    ),
    "from a start": (
        GEMM.replace("k = 0", "k = 3").replace("M", "10").replace("N", "19").replace("K", "21"),
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(A; B)",
    ),
    "convolution": (
        "for (int y = 0; y < 7; y++) for (int x = 0; x < 9; x++) { float s = 0; for (int c = 0; c < 5; c++) for (int r = 0; r < 3; r++)"
        " for (int t = 0; t < 2; t++) s += A[(c * 16 + y * 2 + r) * 11 + x + t] * B[(c * 3 + r) * 2 + t]; C[y * 9 + x] = s; }",
        "x=(x), y=(y), threads_x=8, threads_y=4",
        "loop=c, buffers=(A; B), factor=2",
    ),
    "one dimension": (
        "for (int i = 0; i < 50; i++) { float s = 0; for (int k = 0; k < 9; k++) s += A[i + k] * B[k]; C[i] = s; }",
        "x=(i), threads_x=16",
        "loop=k, buffers=(A; B), factor=4",
    ),
    "a value under the guard": (
        "for (int i = 0; i < 10; i++) { float b = B[i]; for (int j = 0; j < 19; j++) { float s = b; for (int k = 0; k < 21; k++)"
        " s += A[i * 21 + k] * B[k * 19 + j]; C[i * 19 + j] = s + b; } }",
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "loop=k, buffers=(A)",
    ),
    "triangle": (
        "for (int i = 0; i < 12; i++) for (int j = 0; j <= i; j++) { float s = 0; for (int k = 0; k < 21;"
        " k++) s += A[i * 21 + k] * A[k + j * 21];"
        " C[i * 12 + j] = s + B[0]; }",
        "x=(j), y=(i), threads_x=8, threads_y=4",
        "",
    ),
}


@pytest.mark.parametrize("name", STAGED)
def test_what_is_staged_is_what_is_read(name: str) -> None:
    text, launch, tiles = STAGED[name]
    m = f(text)
    start = bound(m, f"simplify | loop_bind{{{launch}}}")
    trace = f"cache{{{tiles}}}"
    if not tiles:
        assert "more than one index" in refused(Cache("k", ("A",)), start)
        return
    for before in (start, bound(start, "simplify")):
        after = bound(before, trace)
        for sizes in ((10, 19, 21), (1, 1, 1), (4, 8, 16), (0, 3, 2), (5, 9, 0)):
            scalars = dict(zip(("m", "n", "l"), sizes, strict=True))
            agree(m, after, scalars)
            agree(m, bound(after, "device_buffers | simplify"), scalars)
        report = check_races(after)
        assert not report.divergent
        assert not report.unknown
        assert sum(isinstance(s, Sync) for s in walk(after.body)) == 2
        assert any(isinstance(s, Alloc) and s.space is Space.SHARED for s in walk(after.body))


REFUSED = {
    "written": ("for (int i = 0; i < 50; i++) for (int k = 0; k < 9; k++) C[i] = C[i] + B[k];", "C", "writes"),
    "divided": (
        "for (int i = 0; i < 50; i++) { float s = 0; for (int k = 0; k < 9; k++) s += A[(i + k) / 3]; C[i] = s; }",
        "A",
        "depends on more",
    ),
    "falling": ("for (int i = 0; i < 50; i++) { float s = 0; for (int k = 0; k < 9; k++) s += A[60 - i + k]; C[i] = s; }", "A", "falls"),
    "unlike": ("for (int i = 0; i < 50; i++) { float s = 0; for (int k = 0; k < i; k++) s += B[k]; C[i] = s; }", "B", "unlike bounds"),
    "left": (
        "for (int i = 0; i < 50; i++) { float s = 0; for (int k = 0; k < 9; k++) { if (s > 3) break; s += B[k]; } C[i] = s; }",
        "B",
        "no serial loop",
    ),
    "inner": (
        "for (int i = 0; i < 50; i++) { float s = 0; for (int k = 0; k < 9; k++) for (int q = 0; q < n;"
        " q++) s += B[k * n + q]; C[i] = s; }",
        "B",
        "depends on more",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_tile_is_not_staged(name: str) -> None:
    text, buf, words = REFUSED[name]
    assert words in refused(Cache("k", (buf,), 4), bound(f(text), "simplify | loop_bind{x=(i), threads_x=32}"))


def test_tiles_fit_the_memory_of_a_block() -> None:
    m = bound(f(GEMM, M=64, N=64, K=4096), "simplify | loop_bind{x=(j), y=(i), threads_x=32, threads_y=8}")
    assert "shared memory" in refused(Cache("k", ("A", "B"), 512), m)
    assert Cache("k", ("A", "B"), 32).check(m, GPU)
    assert any(s.loop == "k" and s.buffers == ("A", "B") for s in Cache.space(m, GPU))
