"""Device memory for what launches touch: few copies, and never a stale value."""

from __future__ import annotations

import pytest

from synth.ir.grammar import Alloc, Call, For, Module, Space, While
from synth.ir.traversal import walk
from synth.passes.device_buffers import DeviceBuffers
from tests.synth.passes.gpu.programs import agree, bound, c_module, refused


def copies(m: Module) -> list[str]:
    """``to <- from`` of all copies, those within loops marked."""
    inside = {id(s) for loop in walk(m.body) if isinstance(loop, For | While) for s in walk(loop.body)}
    return [
        f"{'loop: ' if id(s) in inside else ''}{s.dests[0].buf.name} <- {s.args[0].buf.name}"  # type: ignore[union-attr]
        for s in walk(m.body)
        if isinstance(s, Call) and s.op == "host.copy"
    ]


def on_device(text: str, *loops: str, scalars: dict[str, int] | None = None) -> Module:
    """The program with these loops launched, which computes the same."""
    m = c_module(f"void f(const float* A, float* B, float* C, int n) {{ {text} }}")
    after = m
    for site in loops:
        after = bound(after, f"loop_bind{{x=({site}), threads_x=32}}")
    after = DeviceBuffers().apply(after, None) if DeviceBuffers().check(after, None) else after  # type: ignore[arg-type]
    for n in (0, 1, 5, 40):
        agree(m, after, {"n": n})
    assert not any(isinstance(s, Alloc) and s.space is Space.GLOBAL and s.sym.name == "d_n" for s in walk(after.body))
    return after


def test_launches_share_buffers_without_copies_between_them() -> None:
    m = on_device("for (int i = 0; i < 40; i++) B[i] = A[i]; for (int j = 0; j < 40; j++) C[j] = B[j] + C[j];", "i", "j")
    assert copies(m) == ["d_A <- A", "d_B <- B", "d_C <- C", "B <- d_B", "C <- d_C"]


def test_temporaries_of_the_host_are_not_copied() -> None:
    m = on_device(
        "float* t = (float*)malloc(40 * sizeof(float)); for (int i = 0; i < 40; i++) t[i] = A[i] + n; for (int j = 0; j < 40;"
        " j++) C[j] = t[j];"
        " free(t); B[0] = 1;",
        "i",
        "j",
    )
    assert copies(m) == ["d_A <- A", "d_C <- C", "C <- d_C"]


def test_the_host_between_launches_sees_and_changes_what_they_do() -> None:
    m = on_device("for (int i = 0; i < 40; i++) B[i] = A[i]; B[3] = B[4] + 1; for (int j = 0; j < 40; j++) C[j] = B[j];", "i", "j")
    assert copies(m).count("d_B <- B") == 2
    assert copies(m).count("B <- d_B") == 1


def test_a_loop_around_launches_copies_outside_of_it() -> None:
    m = on_device(
        "for (int t = 0; t < 3; t++) { for (int i = 1; i < 39; i++) B[i] = A[i] + C[i]; for (int j = 1; j < 39;"
        " j++) C[j] = B[j - 1] + B[j + 1]; }",
        "i",
        "j",
    )
    assert not [c for c in copies(m) if c.startswith("loop") and "C" in c]


MIXED = [
    "for (int t = 0; t < n; t++) { for (int i = 0; i < 40; i++) C[i] = C[i] + A[i]; C[t % 7] = 1; }",
    "for (int t = 0; t < n; t++) { C[t % 7] = 1; for (int i = 0; i < 40; i++) C[i] = C[i] + A[i]; }",
    "for (int t = 0; t < n; t++) { if (A[t % 4] > 0) { for (int i = 0; i < 40; i++) C[i] = C[i] + A[i]; } else C[t % 7] = 1; }",
    "if (n > 3) { for (int i = 0; i < 40; i++) C[i] = C[i] + A[i]; } else C[3] = 1;",
    "if (n > 3) { for (int i = 0; i < 40; i++) C[i] = C[i] + A[i]; if (C[0] > 1) return; } C[3] = C[3] + 1;",
    "if (n > 3) return; for (int i = 0; i < 40; i++) C[i] = C[i] + A[i];",
    "float w[2][20]; for (int k = 0; k < 20; k++) { w[0][k] = k; w[1][k] = A[k]; } for (int i = 0; i < 40; i++) C[i] = w[i % 2][i / 2];",
    "static const float w[4] = {1, 2, 3, 4}; for (int i = 0; i < 40; i++) C[i] = w[i % 4];",
    "for (int t = 0; t < n; t++) { float w[4]; for (int k = 0; k < 4; k++) w[k] = t + k; for (int i = 0; i < 40;"
    " i++) C[i] = C[i] + w[i % 4]; }",
    "float* w = (float*)malloc(40 * sizeof(float)); w[3] = 1; if (n > 2) { for (int i = 0; i < 40; i++) w[i] = A[i];"
    " } C[0] = w[3]; free(w);",
    "int t = 0; while (t < n) { for (int i = 0; i < 40; i++) C[i] = C[i] + A[i]; t = t + 1; }",
]


@pytest.mark.parametrize("text", MIXED, ids=range(len(MIXED)))
def test_control_flow_of_the_host(text: str) -> None:
    on_device(text, "i")


def test_loops_with_launches_that_are_left_early_are_refused() -> None:
    m = c_module(
        "void f(const float* A, float* C, int n) { for (int t = 0; t < n; t++) { for (int i = 0; i < 9; i++) C[i] += A[i];"
        " if (C[0] > 9) break; } }"
    )
    assert "break" in refused(DeviceBuffers(), bound(m, "loop_bind{x=(i)}"))
