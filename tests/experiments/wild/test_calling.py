"""One rule calls every kernel: launch, template arguments, sizes, extents."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.command import Outcome
from experiments.wild.__main__ import cause, report, translate
from experiments.wild.calling import arguments, asked_extent, launch, template_arguments
from experiments.wild.drawing import Kernel, kernels_of


def kernel(folder: Path, text: str) -> tuple[Kernel, str]:
    (folder / "k.cu").write_text(text)
    return next(kernels_of(folder, folder / "k.cu")), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__global__ void k(float* p) { p[threadIdx.x] = 1; }", "grid=3,block=128"),
        ("__global__ void k(float* p) { p[threadIdx.y] = 1; }", "grid=3,3,block=16,16"),
        ("__global__ void k(float* p) { p[blockIdx.z] = 1; }", "grid=3,3,3,block=8,8,4"),
        ("__global__ void __launch_bounds__(64) k(float* p) { p[threadIdx.x] = 1; }", "grid=3,block=64"),
        ("#define BLOCK_SIZE 32\n__global__ void k(float* p) { p[threadIdx.y * BLOCK_SIZE] = 1; }", "grid=3,3,block=32,32"),
        ("__global__ void k(float* p) { extern __shared__ float s[]; s[0] = p[0]; }", "grid=3,block=128,shared=16384"),
        ("const int tile = 64;\n__global__ void k(float* p) { p[threadIdx.y * tile] = 1; }", "grid=3,3,block=16,16"),
    ],
)
def test_the_launch_follows_what_the_file_suggests(tmp_path: Path, text: str, expected: str) -> None:
    assert launch(*kernel(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("use", "expected"), [("k<double, 8><<<1, 1>>>(p);", "<double, 8>"), ("k<T, n><<<1, 1>>>(p);", "<float, 16>"), ("", "<float, 16>")]
)
def test_template_arguments_come_from_a_use_in_the_file(tmp_path: Path, use: str, expected: str) -> None:
    text = "template <typename T, int N> __global__ void k(T* p) { p[0] = N; }\nvoid f() { " + use + " }"
    assert template_arguments(*kernel(tmp_path, text)) == expected


def test_template_defaults_and_numbers_of_threads(tmp_path: Path) -> None:
    text = "template <typename T, const int NUM_THREADS = 256, bool B, int kThreads, int N> __global__ void k(T* p) { p[NUM_THREADS] = N; }"
    assert template_arguments(*kernel(tmp_path, text)) == "<float, 256, true, 256, 16>"


def test_integers_are_bound_and_extents_given_when_asked(tmp_path: Path) -> None:
    drawn, _ = kernel(tmp_path, "__global__ void k(const float *x, float* y, size_t n, float a) { y[0] = x[n] * a; }")
    asked = [
        {"status": "unsupported", "diagnostics": [{"severity": "error", "message": f"the extent of parameter '{name}' is unknown"}]}
        for name in "xy"
    ]
    answers = iter([*asked, {"status": "ok"}])
    calls = []

    def run(call, timeout):
        calls.append(list(call))
        answer = next(answers)
        return Outcome(answer["status"], 0, 1.0, answer)

    record = translate(drawn, "vnni", 9, run)
    assert record["kind"] == "translated" and calls[-1][-4:] == ["--extent", "x=65536", "--extent", "y=65536"]
    assert calls[0][calls[0].index("--bind") + 1] == "n=64" and calls[0].count("--bind") == 1
    assert arguments(drawn, "vnni")[:7] == ["translate", str(tmp_path / "k.cu"), "--to", "vnni", "--entry", "k", "--launch"]
    assert asked_extent("something else") is None


def test_equal_causes_are_counted_together_and_every_kernel_is_in_the_denominator() -> None:
    base = {"to": "vnni", "level": "", "seconds": 1.0}
    records = [
        {**base, "kernel": "a", "kind": "refused", "reason": "atomic 'x' in line 3"},
        {**base, "kernel": "b", "kind": "refused", "reason": "atomic 'y' in line 40"},
        {**base, "kernel": "c", "kind": "translated", "reason": ""},
    ]
    assert cause(records[0]) == cause(records[1])
    text = report(records)
    assert "**1 of 3** (33%)" in text and "| refused: atomic '…' in line n | 2 |" in text
