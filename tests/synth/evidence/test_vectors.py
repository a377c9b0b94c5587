from dataclasses import replace

import numpy as np
import pytest

from synth import frontend
from synth.analysis.extents import complete_params
from synth.errors import UnsupportedError, UsageError
from synth.evidence.cases import BufferArg, ScalarArg
from synth.evidence.choices import MAX_BYTES_CHOSEN
from synth.evidence.families import FAMILIES
from synth.evidence.indexing import index_rules
from synth.evidence.vectors import synthesise
from synth.evidence.work import estimated_work
from synth.ir.grammar import Module, Role
from synth.source import ReadOptions, Source

ADD = "void f(const float* A, float* C, int n) { for (int i = 0; i < n; i++) C[i] = A[i] + 1.0f; }"
GEMM = """void f(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
    float s = 0; for (int l = 0; l < k; l++) s += A[i * k + l] * B[l * n + j];
    C[i * n + j] = s; } }"""
GATHER = """void f(const float* table, const int* ids, float* C) {
  for (int i = 0; i < 20; i++) { int row = ids[i]; for (int j = 0; j < 8; j++) C[i * 8 + j] = table[row * 8 + j]; } }"""
ROWS = """void f(const int* start, const float* x, float* C) {
  for (int r = 0; r < 5; r++) { float s = 0; for (int k = start[r]; k < start[r + 1]; k++) s += x[k]; C[r] = s; } }"""


def read(text: str, **options) -> tuple[Module, ReadOptions]:
    read_options = ReadOptions(**options)
    return complete_params(frontend.read(Source(text, "vnni", "f.c"), read_options).module), read_options


def buffers(case) -> dict[str, BufferArg]:
    return {a.name: a for a in case.args if isinstance(a, BufferArg)}


def scalars(case) -> dict[str, float]:
    return {a.name: a.value for a in case.args if isinstance(a, ScalarArg)}


def test_bound_sizes_are_required_and_tried_with_every_family() -> None:
    cases = synthesise(*read(ADD, binds={"n": 100}), 0)
    assert {case.family for case in cases} == set(FAMILIES)
    assert all(not case.optional and case.sizes == {"n": 100} for case in cases)
    assert all(buffers(case)["A"].count == 100 and buffers(case)["C"].data is None for case in cases)
    assert [a.name for a in cases[0].args] == ["A", "C", "n"]


def test_free_sizes_get_several_values_and_are_optional() -> None:
    cases = synthesise(*read(ADD), 0)
    sizes = {case.sizes["n"] for case in cases}
    assert len(sizes) >= 4 and 1 in sizes and any(n % 2 for n in sizes if n > 100)
    assert all(case.optional and buffers(case)["A"].count == case.sizes["n"] for case in cases)


def test_three_sizes() -> None:
    cases = synthesise(*read(GEMM), 0)
    for case in cases:
        s, b = case.sizes, buffers(case)
        assert (b["A"].count, b["B"].count, b["C"].count) == (s["m"] * s["k"], s["k"] * s["n"], s["m"] * s["n"])
        assert sum(x.count * 4 for x in b.values()) <= MAX_BYTES_CHOSEN
    assert len({tuple(case.sizes.values()) for case in cases}) == 5


def test_seeds_decide_the_contents() -> None:
    first, again, other = (synthesise(*read(ADD, binds={"n": 9}), seed)[0] for seed in (0, 0, 1))
    assert np.array_equal(first.args[0].data, again.args[0].data)
    assert not np.array_equal(first.args[0].data, other.args[0].data)


def test_two_buffers_differ() -> None:
    b = buffers(synthesise(*read(GEMM, binds={"m": 4, "n": 4, "k": 4}), 0)[0])
    assert not np.array_equal(b["A"].data, b["B"].data)


def test_sizes_that_make_no_sense_are_passed_over() -> None:
    text = "void f(const float* A, float* C, int n, int k) { for (int i = 0; i < n - k; i++) C[i] = A[i + k]; }"
    for case in synthesise(*read(text, extents={"A": "n", "C": "n - k"}), 0):
        assert case.sizes["n"] > case.sizes["k"]


def test_sizes_in_a_division() -> None:
    text = "void f(const float* A, float* C, int n, int s) { for (int i = 0; i < n / s; i++) C[i] = A[i * s]; }"
    cases = synthesise(*read(text, extents={"A": "n", "C": "n / s"}), 0)
    assert cases and all(buffers(case)["C"].count == case.sizes["n"] // case.sizes["s"] >= 1 for case in cases)


def test_float_scalars_take_several_values() -> None:
    text = "void f(const float* A, float* C, float s) { for (int i = 0; i < 16; i++) C[i] = A[i] * s; }"
    assert {scalars(case)["s"] for case in synthesise(*read(text), 0)} == {0.75, -1.5, 0.0}


def test_too_large_for_any_test() -> None:
    text = "void f(const float* A, float* C) { for (int i = 0; i < 300000000; i++) C[i] = A[i]; }"
    with pytest.raises(UnsupportedError, match="exceed 512 MiB") as refusal:
        synthesise(*read(text), 0)
    assert "-D" in (refusal.value.hint or "")


def test_large_calls_are_tried_with_fewer_families() -> None:
    text = "void f(const float* A, float* C) { for (int i = 0; i < 2000000; i++) C[i] = A[i]; }"
    assert [case.family for case in synthesise(*read(text), 0)] == ["random", "mixed", "peaks", "negative"]


def test_ids_index_rows_of_the_table() -> None:
    module, options = read(GATHER, extents={"table": "80"})
    assert {sym.name: rule.below for sym, rule in index_rules(module, {}).items()} == {"ids": 10}
    for case in synthesise(module, options, 0):
        ids = buffers(case)["ids"]
        assert ids.role is Role.IN and ids.data is not None and ids.data.min() >= 0 and ids.data.max() < 10


def test_row_pointers_ascend() -> None:
    module, options = read(ROWS, extents={"x": "40", "start": "6"})
    for case in synthesise(module, options, 0):
        start = buffers(case)["start"].data
        assert start is not None and start[0] == 0 and start[-1] == 40 and (np.diff(start) >= 0).all()


def test_work_is_counted_over_loops() -> None:
    module, _ = read(GEMM)
    small, large = (estimated_work(module, {"m": s, "n": s, "k": s}) for s in (10, 20))
    assert 1000 < small < 10000 and 6 < large / small < 9


def test_given_contents_replace_made_up_ones() -> None:
    module, options = read(GATHER, extents={"table": "80"})
    count = buffers(synthesise(module, options, 0)[0])["ids"].count
    values = tuple(range(count))
    for case in synthesise(module, replace(options, values={"ids": values}), 0):
        ids = buffers(case)["ids"].data
        assert ids is not None and ids.dtype == np.int32 and tuple(ids) == values


@pytest.mark.parametrize(
    ("values", "message"),
    [({"nobody": (1,)}, "has no such buffer"), ({"table": (1,)}, "no integer input"), ({"ids": (1,)}, "1 values for")],
)
def test_contents_that_do_not_fit_are_refused(values: dict[str, tuple[int, ...]], message: str) -> None:
    module, options = read(GATHER, extents={"table": "80"})
    with pytest.raises(UsageError, match=message):
        synthesise(module, replace(options, values=values), 0)
