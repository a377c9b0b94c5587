"""Blocks of threads that share the work of an iteration: reductions, temporaries, barriers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.analysis.races import check_races
from synth.ir.grammar import Alloc, Module, Space, Sync
from synth.ir.traversal import walk
from synth.passes.base import Legal
from synth.passes.block_bind import BlockBind
from tests.synth.passes.gpu.programs import GPU, agree, bound, c_module, refused
from tests.synth.passes.nests import nests
from tests.synth.passes.test_properties import assert_preserved


def f(text: str) -> Module:
    return c_module(f"void f(const float* A, float* C, int n) {{ {text} }}")


def prepared(text: str) -> Module:
    return bound(f(text), "simplify")


SOFTMAX = (
    "for (int i = 0; i < 5; i++) { float m = A[i * 37]; for (int j = 0; j < 37; j++) m = fmaxf(m, A[i * 37 + j]); float s = 0;"
    " for (int k = 0; k < 37; k++) { C[i * 37 + k] = expf(A[i * 37 + k] - m); s += C[i * 37 + k]; }"
    " for (int l = 0; l < 37; l++) C[i * 37 + l] = C[i * 37 + l] / s; }"
)
ROWS = {
    "softmax": (SOFTMAX, "outer=(i), inner=(j; k; l)"),
    "row sums": (
        "for (int i = 0; i < 5; i++) { float s = 0; for (int k = 0; k < 37; k++) s += A[i * 37 + k]; C[i] = s; }",
        "outer=(i), inner=(k)",
    ),
    "sums in memory": ("for (int i = 0; i < 5; i++) { for (int k = 0; k < 37; k++) C[i] += A[i * 37 + k]; }", "outer=(i), inner=(k)"),
    "a temporary": (
        "for (int i = 0; i < 5; i++) { float t[37]; for (int k = 0; k < 37; k++) t[k] = A[i * 37 + k] * 2;"
        " for (int l = 0; l < 37; l++) C[i * 37 + l] = t[36 - l]; }",
        "outer=(i), inner=(k; l)",
    ),
    "a product and a minimum": (
        "for (int i = 0; i < 5; i++) { float p = 1, q = 0; for (int k = 3; k < 37; k += 2) { p *= A[i + k] / 2;"
        " if (A[k] < 1) q = fminf(q, A[i + k]); }"
        " C[i] = p + q; }",
        "outer=(i), inner=(k)",
    ),
    "a loop that all threads run": (
        "for (int i = 0; i < 5; i++) { float t[16]; for (int k = 0; k < 16; k++) t[k] = A[i + k]; for (int r = 0; r < 4; r++) {"
        " float s = 0; for (int l = 0; l < 16; l++) s += t[l]; for (int u = 0; u < 16; u++) t[u] = t[u] + s / 16; t[r] = 0; }"
        " for (int v = 0; v < 16; v++) C[i * 16 + v] = t[v]; }",
        "outer=(i), inner=(k; l; u; v)",
    ),
    "a condition": (
        "for (int i = 0; i < 5; i++) { float s = 0; if (A[i] > 0) { for (int k = 0; k < 16; k++) s += A[k]; C[i] = s; } else { C[i] = 1; }"
        " if (C[i] > 0.5f) C[i + 5] = C[i]; }",
        "outer=(i), inner=(k)",
    ),
    "stores by one thread, read by all": (
        "for (int i = 0; i < 5; i++) { C[i * 9] = A[i]; C[i * 9 + 1] = C[i * 9] * 2; for (int k = 2; k < 9;"
        " k++) C[i * 9 + k] = C[i * 9 + 1] + A[k]; }",
        "outer=(i), inner=(k)",
    ),
    "a scan beside a sum": (
        "for (int i = 0; i < 5; i++) { for (int r = 1; r < 9; r++) C[i * 9 + r] = C[i * 9 + r - 1] + A[r];"
        " float s = 0; for (int k = 0; k < 9; k++) s += C[i * 9 + k]; C[i * 9] = s; }",
        "outer=(i), inner=(k)",
    ),
    "two outer loops": (
        "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) { float s = 0; for (int k = 0; k < 37;"
        " k++) s += A[i * 37 + k] * A[j * 37 + k];"
        " C[i * 4 + j] = s; }",
        "outer=(i; j), inner=(k)",
    ),
    "free counts": (
        "for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < n; k++) s += A[i * n + k]; for (int l = 0; l < n; l++)"
        " C[i * n + l] = A[i * n + l] - s; }",
        "outer=(i), inner=(k; l)",
    ),
    "one block": ("for (int i = 0; i < n; i++) C[0] += A[i];", "outer=(), inner=(i)"),
    "one block around a serial loop": (
        "for (int i = 1; i < 9; i++) for (int k = 0; k < 9; k++) C[i * 9 + k] = C[i * 9 - 9 + k] + A[k];",
        "outer=(), inner=(k)",
    ),
    "one thread": ("for (int i = 1; i < 9; i++) C[i] = C[i - 1] + A[i];", "outer=(), inner=()"),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("threads", [1, 8, 64])
def test_blocks_compute_what_the_loops_do(name: str, threads: int) -> None:
    text, loops = ROWS[name]
    m = prepared(text)
    after = bound(m, f"block_bind{{site=i, {loops}, threads={threads}}}")
    for n in (0, 1, 9, 40):
        agree(m, after, {"n": n})
        agree(m, bound(after, "device_buffers | simplify"), {"n": n})
    report = check_races(after)
    assert not report.divergent
    assert not report.unknown


def test_integers_are_folded_exactly_and_floats_over_the_reals() -> None:
    m = c_module(
        "void f(const int* A, int* C) { for (int i = 0; i < 3; i++) { int s = 0; for (int k = 0; k < 40; k++) s += A[i * 40 + k];"
        " C[i] = s; } }"
    )
    assert BlockBind("i", ("i",), ("k",), 32).check(m, GPU) == Legal()
    agree(m, bound(m, "block_bind{site=i, outer=(i), inner=(k), threads=32}"), tolerance=0)
    m = f("for (int i = 0; i < 3; i++) { float s = 0; for (int k = 0; k < 40; k++) s += A[i * 40 + k]; C[i] = s; }")
    assert BlockBind("i", ("i",), ("k",), 32).check(m, GPU) == Legal(("reals",))


def test_temporaries_are_in_shared_memory_and_must_fit() -> None:
    text = (
        "for (int i = 0; i < 5; i++) { float t[SIZE]; for (int k = 0; k < 37; k++) t[k] = A[k]; for (int l = 0; l < 37;"
        " l++) C[i * 37 + l] = t[36 - l]; }"
    )
    after = bound(prepared(text.replace("SIZE", "40")), "block_bind{site=i, outer=(i), inner=(k; l), threads=32}")
    assert [s.sym.name for s in walk(after.body) if isinstance(s, Alloc) and s.space is Space.SHARED] == ["t"]
    assert sum(isinstance(s, Sync) for s in walk(after.body)) == 1
    assert "shared memory" in refused(BlockBind("i", ("i",), ("k", "l"), 32), prepared(text.replace("SIZE", "16000")))


REFUSED = {
    "a chain of values": (
        "for (int i = 0; i < 5; i++) for (int k = 1; k < 9; k++) C[i * 9 + k] = C[i * 9 + k - 1] + A[k];",
        "same element of 'C'",
    ),
    "a loop that is left": ("for (int i = 0; i < 5; i++) for (int k = 1; k < 9; k++) { if (A[k] > 1) break; C[i * 9 + k] = 1; }", "breaks"),
    "blocks that need each other": (
        "for (int i = 1; i < 5; i++) for (int k = 0; k < 9; k++) C[i * 9 + k] = C[i * 9 - 9 + k];",
        "same element of 'C'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_independent_is_not_shared(name: str) -> None:
    text, words = REFUSED[name]
    assert words in refused(BlockBind("i", ("i",), ("k",), 32), f(text))


def test_tables_that_threads_would_write_and_loops_that_end_early() -> None:
    text = "for (int i = 0; i < 5; i++) { float t[4] = {1, 2, 3, 4}; for (int k = 0; k < 4; k++) t[k] = t[k] + A[k]; C[i] = t[i % 4]; }"
    assert "copies of their own of 't'" in refused(BlockBind("i", ("i",), ("k",), 32), prepared(text))
    text = (
        "for (int i = 0; i < 5; i++) { for (int r = 0; r < 3; r++) { if (A[r] > 0) continue; for (int k = 0; k < 4;"
        " k++) C[i * 4 + k] += A[k]; } }"
    )
    assert "left early" in refused(BlockBind("i", ("i",), ("k",), 32), prepared(text))


def test_scalars_of_the_host_are_spilled_first() -> None:
    m = f("float s = 0; for (int i = 0; i < n; i++) s += A[i]; C[0] = s;")
    assert "spill it first" in refused(BlockBind("i", (), ("i",), 32), m)
    after = bound(m, "spill{buf=s} | block_bind{site=i, outer=(), inner=(i), threads=32} | device_buffers | simplify")
    for n in (0, 1, 100):
        agree(m, after, {"n": n})


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(m=nests(), data=st.data(), seed=st.integers(0, 9))
def test_random_nests_shared_by_blocks_compute_the_same(m: Module, data: st.DataObject, seed: int) -> None:
    steps = BlockBind.space(m, GPU)
    if not steps:
        return
    step = data.draw(st.sampled_from(steps))
    if step.check(m, GPU):
        assert_preserved(m, step.apply(m, GPU), seed, True)
